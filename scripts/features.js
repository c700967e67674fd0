// Writes spec/features.md from the feature table; needs `npm run build` before it.
import { writeFile } from 'node:fs/promises';
import { featuresPage } from '../dist/log/features-page.js';

await writeFile(new URL('../spec/features.md', import.meta.url), featuresPage());
