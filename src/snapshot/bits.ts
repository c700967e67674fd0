/** A set of small integers, one bit each. */
export function hasBit(bits: Uint8Array | undefined, index: number): boolean {
  return bits !== undefined && ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}
