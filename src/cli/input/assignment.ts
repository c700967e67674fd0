/** `name = expression`, the name in backquotes where it is no plain word. */
export interface Assignment {
  readonly name: string;
  /** SQL text. */
  readonly expression: string;
}

/** Takes the text apart at its first `=`; undefined where it is none. */
export function parseAssignment(text: string): Assignment | undefined {
  const match = /^\s*(?:`((?:[^`]|``)+)`|([A-Za-z_][A-Za-z0-9_]*))\s*=(?!=)\s*(.+)$/s.exec(text);
  if (match === null) return undefined;
  return { name: match[1]?.replaceAll('``', '`') ?? match[2]!, expression: match[3]! };
}
