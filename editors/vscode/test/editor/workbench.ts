// A real VS Code in a real browser: code-server with the packaged extension, driven by Playwright.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { until } from './until.ts';
import { type State, Window, write } from './window.ts';

export interface Setup {
  /** The program `code-server`. */
  codeServer: string;
  chromium: string;
  nudge: string;
  vsix: string;
}

/** Where the programs are, from the environment; a text that says what is missing otherwise. */
export function setup(): Setup | string {
  const { NUDGE_TEST_CODE_SERVER, NUDGE_TEST_CHROMIUM, NUDGE_TEST_NUDGE, NUDGE_TEST_VSIX } = process.env;
  if (!NUDGE_TEST_CODE_SERVER || !NUDGE_TEST_CHROMIUM || !NUDGE_TEST_NUDGE || !NUDGE_TEST_VSIX) {
    return 'set NUDGE_TEST_CODE_SERVER, NUDGE_TEST_CHROMIUM, NUDGE_TEST_NUDGE and NUDGE_TEST_VSIX';
  }
  return {
    codeServer: NUDGE_TEST_CODE_SERVER,
    chromium: NUDGE_TEST_CHROMIUM,
    nudge: NUDGE_TEST_NUDGE,
    vsix: NUDGE_TEST_VSIX,
  };
}

/** One code-server and one browser for all tests; each test has a folder of its own. */
export class Workbench {
  readonly root: string;
  readonly #server: ChildProcess;
  readonly #browser: Browser;
  readonly #address: string;
  #folders = 0;

  private constructor(root: string, server: ChildProcess, browser: Browser, address: string) {
    this.root = root;
    this.#server = server;
    this.#browser = browser;
    this.#address = address;
  }

  static async start(programs: Setup, settings: Record<string, unknown> = {}): Promise<Workbench> {
    const root = mkdtempSync(join(tmpdir(), 'nudge-vscode-'));
    write(
      join(root, 'user/User/settings.json'),
      JSON.stringify({ ...SETTINGS, 'nudge.path': programs.nudge, ...settings }),
    );
    const folders = ['--user-data-dir', join(root, 'user'), '--extensions-dir', join(root, 'extensions')];
    const env = { ...process.env, HOME: root, NUDGE_DATA: join(root, 'data'), NUDGE_LINGER: '2' };
    // As from a terminal of VS Code, it would speak to the one it runs in.
    delete (env as NodeJS.ProcessEnv)['VSCODE_IPC_HOOK_CLI'];
    execFileSync(programs.codeServer, [...folders, '--install-extension', programs.vsix], {
      env,
      stdio: 'ignore',
    });
    const port = await freePort();
    const flags = [
      '--auth',
      'none',
      '--disable-telemetry',
      '--disable-update-check',
      '--disable-workspace-trust',
    ];
    const where = ['--bind-addr', `127.0.0.1:${port}`];
    const server = spawn(programs.codeServer, [...folders, ...flags, ...where], { env, stdio: 'ignore' });
    const address = `http://127.0.0.1:${port}`;
    await until('code-server answers', async () => (await fetch(`${address}/healthz`)).ok);
    const browser = await chromium.launch({ executablePath: programs.chromium, args: BROWSER_FLAGS });
    return new Workbench(root, server, browser, address);
  }

  /** Where Nudge keeps what it keeps. */
  get data(): string {
    return join(this.root, 'data');
  }

  /** A new window on a new folder with these files, in which Nudge has come to this state. */
  async open(files: Record<string, string>, state: State = 'on'): Promise<Window> {
    this.#folders += 1;
    const folder = join(this.root, `work${this.#folders}`);
    for (const [name, text] of Object.entries(files)) {
      write(join(folder, name), text);
    }
    const page = await this.#browser.newPage({ viewport: { width: 1000, height: 640 } });
    await page.goto(`${this.#address}/?folder=${encodeURIComponent(folder)}`);
    const window = new Window(page, folder);
    await window.opened(state);
    return window;
  }

  async stop(): Promise<void> {
    await this.#browser.close();
    const ended = new Promise((resolve) => this.#server.once('exit', resolve));
    this.#server.kill('SIGTERM');
    await ended;
    rmSync(this.root, { recursive: true, force: true });
  }
}

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'window.restoreWindows': 'none',
  'files.autoSave': 'off',
  'editor.minimap.enabled': false,
  // The list of completions opens when it has something, and then has Tab and Esc: one test opens it by hand.
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'telemetry.telemetryLevel': 'off',
};

const BROWSER_FLAGS = [
  '--no-sandbox',
  '--headless',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
];

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
