import { FEATURES, type Feature } from './feature-table.js';

/** `spec/features.md`: the feature table as a page. */
export function featuresPage(): string {
  const rows = Object.entries(FEATURES).map(
    ([name, feature]) =>
      `| \`${name}\` | ${feature.kind} | ${feature.read} | ${word(feature.write)} | ${word(feature.maintain)} | ${legacy(feature)} | ${feature.activeWhen} | ${feature.note ?? ''} |`,
  );
  return `# Table features

Made from \`src/log/feature-table.ts\` by \`node scripts/features.js\`; a test compares the two.

What a table whose protocol lists a feature can be used for. A feature that is not here is refused by name: by readers if readers must know it, by writers always.
"unused" means as long as the feature is not in use, which the next to last column defines. Writing is appending rows and overwriting partitions;
maintaining is writing checkpoints and cleaning up what no version needs.

| feature | kind | read | write | maintain | implied by versions | in use when | note |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function word(support: Feature['write']): string {
  return support === 'inactive' ? 'unused' : support;
}

function legacy({ legacyReader, legacyWriter }: Feature): string {
  const parts = [legacyReader && `reader ${legacyReader}`, legacyWriter && `writer ${legacyWriter}`];
  return parts.filter(Boolean).join(', ');
}
