// The user's settings, and what of them the server is told.

import * as vscode from 'vscode';
import type { Eagerness, ServerSettings } from './protocol.ts';

export interface Settings {
  enabled: boolean;
  eagerness: Eagerness;
  path: string;
  showReason: boolean;
}

export function readSettings(): Settings {
  const all = vscode.workspace.getConfiguration('nudge');
  return {
    enabled: all.get('enabled', true),
    eagerness: all.get<Eagerness>('eagerness', 'medium'),
    path: all.get('path', '').trim(),
    showReason: all.get('showReason', true),
  };
}

export function forServer(settings: Settings): ServerSettings {
  return {
    enabled: settings.enabled,
    eagerness: settings.eagerness,
    kinds: ['jump', 'rename', 'searchAndReplace'],
    status: true,
  };
}

/** Turns suggestions on or off where the user has decided it before: in the workspace, or for everything. */
export async function setEnabled(enabled: boolean): Promise<void> {
  const all = vscode.workspace.getConfiguration('nudge');
  const isOfWorkspace = all.inspect('enabled')?.workspaceValue !== undefined;
  const target = isOfWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  await all.update('enabled', enabled, target);
}
