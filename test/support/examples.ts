import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A block of code in a page: its language, and what stands behind it in the same line. */
export interface Example {
  readonly language: string;
  /** A file name, or what the example needs. */
  readonly about: string | undefined;
  readonly code: string;
}

/** The blocks of code of a page of this project that have a language, in order. */
export async function examplesOf(page: string): Promise<Example[]> {
  return examplesIn(await readFile(join(ROOT, page), 'utf8'));
}

export function examplesIn(text: string): Example[] {
  return [...text.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms)].map(([, language, about, code]) => ({
    language: language!,
    about,
    code: code!,
  }));
}

/** What an example says it prints: the comments right behind code. Those behind an empty line are words. */
export function promised(code: string, mark = '// '): string[] {
  const lines = code.split('\n');
  return lines
    .filter((line, i) => line.startsWith(mark) && (lines[i - 1] ?? '') !== '')
    .map((line) => line.slice(mark.length));
}

/** What the compiler says of the TypeScript files of an example folder; empty when they have the types of the library. */
export async function typeFaults(folder: string): Promise<string> {
  const config = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'es2022',
      module: 'nodenext',
      lib: ['es2023', 'esnext.disposable'],
      skipLibCheck: true,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    include: ['*.ts'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

/** A folder where `intervale` can be imported, and, with the environment given, `tablectl` be called. */
export interface ExampleFolder {
  readonly path: string;
  readonly environment: NodeJS.ProcessEnv;
  remove(): Promise<void>;
}

export async function openExampleFolder(): Promise<ExampleFolder> {
  const path = await mkdtemp(join(tmpdir(), 'examples-'));
  await mkdir(join(path, 'node_modules'));
  await symlink(ROOT, join(path, 'node_modules/intervale'), 'dir');
  await mkdir(join(path, 'bin'));
  await writeFile(
    join(path, 'bin/tablectl'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'bin/tablectl.js')}" "$@"\n`,
  );
  await chmod(join(path, 'bin/tablectl'), 0o755);
  await writeFile(join(path, 'package.json'), '{"type":"module"}');
  return {
    path,
    environment: { ...process.env, PATH: `${join(path, 'bin')}${delimiter}${process.env.PATH}` },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
