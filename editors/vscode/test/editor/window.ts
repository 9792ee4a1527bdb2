// A window of VS Code, by its screen, its keys and its files.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { until } from './until.ts';

/** As the icon of the status bar says it. */
export type State = keyof typeof ICONS;

const ICONS = { on: '.codicon-sparkle', failed: '.codicon-warning' } as const;

/** What a person sees and does in one window. */
export class Window {
  readonly page: Page;
  readonly folder: string;

  constructor(page: Page, folder: string) {
    this.page = page;
    this.folder = folder;
  }

  /** Writes a file of the folder, as another program would. */
  write(name: string, text: string): void {
    write(join(this.folder, name), text);
  }

  uri(name: string): string {
    return pathToFileURL(join(this.folder, name)).toString();
  }

  /** Runs a command by its name in the palette. */
  async command(name: string): Promise<void> {
    await this.page.keyboard.press('F1');
    await this.page.waitForSelector('.quick-input-widget input');
    await this.page.keyboard.type(name);
    await this.page.waitForSelector(`.quick-input-list .monaco-list-row.focused[aria-label*="${name}"]`);
    await this.page.keyboard.press('Enter');
  }

  /** Waits until the window is there and the extension has come to a state. */
  async opened(state: State): Promise<void> {
    await this.page.waitForSelector('.monaco-workbench .explorer-folders-view', { timeout: 60_000 });
    await this.is(state);
  }

  /** Waits until the icon in the status bar says so: what is typed before Nudge is there, it does not see as an edit. */
  async is(state: State): Promise<void> {
    const icon = this.page.locator('.statusbar-item', { hasText: 'Nudge' }).locator(ICONS[state]);
    await this.sees(`Nudge is ${state}`, async () => (await icon.count()) > 0, 60_000);
  }

  async openFile(name: string): Promise<void> {
    await this.page.keyboard.press('Control+P');
    await this.page.waitForSelector('.quick-input-widget input');
    await this.page.keyboard.type(name);
    await this.page.waitForSelector(`.quick-input-list .monaco-list-row.focused[aria-label^="${name}"]`);
    await this.page.keyboard.press('Enter');
    await this.sees(`${name} is open`, async () => (await this.title()).includes(name));
    await this.page.waitForSelector('.editor-instance .view-lines .view-line');
  }

  /** Puts the cursor there; both count from 1. */
  async goTo(line: number, column: number): Promise<void> {
    await this.page.keyboard.press('Control+G');
    await this.page.waitForSelector('.quick-input-widget input');
    await this.page.keyboard.type(`${line}:${column}`);
    await this.page.keyboard.press('Enter');
    await this.page.waitForSelector('.quick-input-widget', { state: 'hidden' });
    await this.sees('the cursor is there', async () => (await this.cursor()) === `Ln ${line}, Col ${column}`);
  }

  /** Replaces the word that begins at the place by typing another. */
  async retype(line: number, column: number, old: string, text: string): Promise<void> {
    await this.goTo(line, column);
    for (let at = 0; at < [...old].length; at += 1) {
      await this.page.keyboard.press('Shift+ArrowRight');
    }
    await this.page.keyboard.type(text, { delay: 40 });
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) {
      await this.page.keyboard.press(key);
    }
  }

  /** The tab in front. */
  async title(): Promise<string> {
    return (await this.page.locator('.tab.active').first().getAttribute('data-resource-name')) ?? '';
  }

  /** Where the status bar says that the cursor is. */
  async cursor(): Promise<string> {
    return (await this.page.locator('#status\\.editor\\.selection').textContent()) ?? '';
  }

  /** What the status bar says of Nudge. */
  async status(): Promise<string> {
    const entry = this.page.locator('.statusbar-item', { hasText: 'Nudge' });
    return (await entry.count()) === 0 ? '' : ((await entry.first().textContent()) ?? '').trim();
  }

  /** Waits until the question that the last key led to is answered: a Tab that does nothing would come too early. */
  async answered(): Promise<void> {
    await this.command('Nudge: Next Edit');
    await this.page.waitForSelector('.quick-input-widget', { state: 'hidden' });
    await this.sees('an answer', async () => /\d ms/.test(await this.status()));
  }

  /** The text as it is seen, without marks. */
  async text(): Promise<string> {
    return this.page.evaluate(() => {
      const lines = [...document.querySelectorAll<HTMLElement>('.editor-instance .view-lines .view-line')];
      lines.sort((a, b) => a.offsetTop - b.offsetTop);
      return lines.map((line) => (line.textContent ?? '').replaceAll('\u00a0', ' ')).join('\n');
    });
  }

  /** What is struck out, and what stands behind text that is not there, top to bottom. */
  async marks(): Promise<{ gone: string[]; come: string[] }> {
    return this.page.evaluate(() => {
      const spans = [
        ...document.querySelectorAll<HTMLElement>('.editor-instance .view-lines .view-line span span'),
      ];
      const height = (span: HTMLElement) =>
        span.getBoundingClientRect().top * 10_000 + span.getBoundingClientRect().left;
      spans.sort((a, b) => height(a) - height(b));
      const struck = spans.filter((span) =>
        getComputedStyle(span).textDecorationLine.includes('line-through'),
      );
      const behind = spans.map((span) => getComputedStyle(span, '::after').content);
      const said = behind.filter((content) => content.startsWith('"') && content !== '""');
      const plain = (text: string) => text.replaceAll('\u00a0', ' ');
      return {
        gone: struck.map((span) => plain(span.textContent ?? '')),
        come: said.map((content) => plain(JSON.parse(content.replaceAll('\n', '\\n')))),
      };
    });
  }

  /** The ghost text of VS Code's own inline suggestions. */
  async ghost(): Promise<string> {
    const parts = await this.page.locator('.editor-instance [class*="ghost-text"]').allTextContents();
    return parts.join('').replaceAll('\u00a0', ' ');
  }

  /** Waits until the screen shows this text, which must fit on it, saves, and waits until the file has it. */
  async saved(name: string, expected: string): Promise<void> {
    await this.sees(`the text of ${name}`, async () => (await this.text()) === expected);
    await this.page.keyboard.press('Control+S');
    const path = join(this.folder, name);
    await until(
      `${name} is saved as expected`,
      async () => readFileSync(path, 'utf8') === expected,
      10_000,
      () => `it is:\n${readFileSync(path, 'utf8')}`,
    );
  }

  async sees(what: string, isSo: () => Promise<boolean>, within = 30_000): Promise<void> {
    await until(what, isSo, within, async () => {
      const shot = join(tmpdir(), `nudge-vscode-${what.replaceAll(/\W+/g, '-').slice(0, 40)}.png`);
      await this.page.screenshot({ path: shot });
      return `marks: ${JSON.stringify(await this.marks())}\n${await this.text()}\nscreenshot: ${shot}`;
    });
  }

  async close(): Promise<void> {
    await this.page.close({ runBeforeUnload: false });
  }
}

export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
