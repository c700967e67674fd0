/** Encodings by their number in the format. */
export const ENCODING = {
  plain: 0,
  plainDictionary: 2,
  rle: 3,
  bitPacked: 4,
  deltaBinaryPacked: 5,
  deltaLengthByteArray: 6,
  deltaByteArray: 7,
  rleDictionary: 8,
  byteStreamSplit: 9,
} as const;

/** Whether values are numbers of a dictionary's entries. */
export function isDictionaryCoded(encoding: number): boolean {
  return encoding === ENCODING.plainDictionary || encoding === ENCODING.rleDictionary;
}
