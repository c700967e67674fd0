/**
 * Statistics of many files, row by row. `text` gives the JSON of a row; the other members answer for one leaf column without making a string of the rest.
 * All want the statistics to be loaded.
 */
export interface StatisticsSource {
  statsText(row: number): string | undefined;
  column(path: readonly string[]): ColumnTokens;
  numRecords(row: number): number | undefined;
}

/** The raw JSON tokens of one leaf column, by row. */
export interface ColumnTokens {
  min(row: number): string | undefined;
  max(row: number): string | undefined;
  nullCount(row: number): number | undefined;
}
