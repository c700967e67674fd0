import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { tablectl } from '../../support/tablectl.js';

describe('completion scripts', () => {
  test.each(['bash', 'zsh', 'fish'])('%s knows every command and option', async (shell) => {
    const { code, stdout } = await tablectl(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['import', 'partitions', 'ntz-as', 'overwrite-partitions'])
      expect(stdout).toContain(word);
  });

  test('bash completes', async () => {
    const { stdout } = await tablectl(['completion', 'bash']);
    const complete = (...words: string[]): string[] => {
      const script = `${stdout}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _tablectl; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
    };
    expect(complete('tablectl', 'imp')).toEqual(['import']);
    expect(complete('tablectl', 'import', '--ntz')).toEqual(['--ntz-as']);
    expect(complete('tablectl', 'import', '--ntz-as', '')).toEqual(['utc', 'keep']);
    expect(complete('tablectl', 'completion', 'z')).toEqual(['zsh']);
  });

  test('another shell is a wrong command line', async () => {
    expect(await tablectl(['completion', 'csh'])).toMatchObject({ code: 2 });
  });
});
