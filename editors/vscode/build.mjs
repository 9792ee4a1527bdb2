// Bundles the extension into dist/extension.cjs; `--production` leaves out the source map and brings the licences.
import { copyFileSync } from 'node:fs';
import { build } from 'esbuild';

const production = process.argv.includes('--production');

await build({
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.cjs',
  bundle: true,
  external: ['vscode'],
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  minify: production,
  sourcemap: !production,
  logLevel: 'warning',
});
if (production) {
  for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) {
    copyFileSync(`../../${licence}`, `dist/${licence}`);
  }
}
