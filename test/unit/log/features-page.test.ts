import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { featuresPage } from '../../../src/log/features-page.js';

test('spec/features.md is what scripts/features.js makes of the table', async () => {
  expect(await readFile(new URL('../../../spec/features.md', import.meta.url), 'utf8')).toBe(featuresPage());
});
