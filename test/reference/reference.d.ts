/** What one case of the reference set came to. */
export interface ReferenceResult {
  readonly group: string;
  readonly name: string;
  readonly passed: boolean;
  readonly reason?: string;
}

/** Runs every case of a reference folder with the library's functions; tables are copied to `scratch`, which the caller removes. */
export function checkReference(
  lib: Readonly<Record<string, unknown>>,
  folder: string,
  scratch: string,
): AsyncGenerator<ReferenceResult, void, undefined>;
