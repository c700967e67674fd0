/** The members of a deletion vector's descriptor that name it. */
export interface VectorName {
  readonly storageType: string;
  readonly pathOrInlineDv: string;
  readonly offset?: number | null;
}

/** The unique id of a deletion vector (protocol: Deletion Vectors, Derived Fields), by which logical files are told apart. Undefined for no vector. */
export function vectorId(vector: VectorName | null | undefined): string | undefined {
  if (vector === null || vector === undefined) return undefined;
  const name = `${vector.storageType}${vector.pathOrInlineDv}`;
  return vector.offset === null || vector.offset === undefined ? name : `${name}@${vector.offset}`;
}
