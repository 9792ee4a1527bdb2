// What the extension and `nudge lsp` say to each other beyond LSP.

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface TextEdit {
  range: Range;
  newText: string;
}

/** The shape of an LSP WorkspaceEdit; the language client converts it. */
export type ServerWorkspaceEdit = Record<string, unknown>;

interface Common {
  id: string;
  uri: string;
  reason: string;
  predictor?: string;
  confidence?: number;
}

export interface EditSuggestion extends Common {
  kind: 'edit';
  /** The version of the document that the positions count in; null if it is not open in the editor. */
  version: number | null;
  edits: TextEdit[];
  cursor?: Position | null;
}

export interface JumpSuggestion extends Common {
  kind: 'jump';
  position: Position;
}

export interface RenameSuggestion extends Common {
  kind: 'rename';
  position: Position;
  newName: string;
  /** What it comes to; null if the server does not know. */
  edit: ServerWorkspaceEdit | null;
}

export interface ReplaceSuggestion extends Common {
  kind: 'searchAndReplace';
  edit: ServerWorkspaceEdit;
}

export type Suggestion = EditSuggestion | JumpSuggestion | RenameSuggestion | ReplaceSuggestion;

export type Trigger = 'automatic' | 'manual' | 'diagnostic';

export interface SuggestParams {
  textDocument: { uri: string; version: number };
  position: Position;
  selection?: Range;
  visible?: Range;
  trigger: Trigger;
}

export interface SuggestResult {
  suggestions: Suggestion[];
  elapsedMs: number;
  why?: string;
}

/** Why a suggestion that was shown is not shown any more. */
export type Farewell = 'rejected' | 'ignored' | 'replaced' | 'cancelled';

export type ServerState = 'connecting' | 'ready' | 'off' | 'failed';

export interface StatusParams {
  state: ServerState;
  message?: string;
}

export type Eagerness = 'low' | 'medium' | 'high';

export interface ServerSettings {
  enabled: boolean;
  eagerness: Eagerness;
  kinds: string[];
  status: boolean;
}

export const method = {
  suggest: 'nudge/suggest',
  accept: 'nudge/accept',
  reject: 'nudge/reject',
  didFocus: 'nudge/didFocus',
  diagnostics: 'nudge/diagnostics',
  status: 'nudge/status',
} as const;

export function isBefore(a: Position, b: Position): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character);
}

export function isSame(a: Position, b: Position): boolean {
  return a.line === b.line && a.character === b.character;
}
