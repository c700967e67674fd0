import { InvalidArgumentError } from 'commander';
import { parseColumnList } from '../log/property-values.js';
import type { Alteration } from '../write/alteration.js';

/** What one option of `alter` changes. */
export type ColumnChange =
  | 'add'
  | 'rename'
  | 'drop'
  | 'type'
  | 'comment'
  | 'default'
  | 'nullable'
  | 'move'
  | 'set'
  | 'unset'
  | 'addConstraint'
  | 'dropConstraint'
  | 'dropFeature'
  | 'name'
  | 'description';

/** The change that an option and its argument stand for. Throws commander's error for an argument that is none. */
export function alterationFor(kind: ColumnChange, argument: string): Alteration {
  switch (kind) {
    case 'add':
      return { addColumns: argument };
    case 'rename': {
      const [column, to] = pair(argument, 'OLD=NEW');
      return { renameColumn: columnPath(column), to: nameOf(to) };
    }
    case 'drop':
      return { dropColumn: columnPath(argument) };
    case 'type': {
      const [column, type] = pair(argument, 'COLUMN=TYPE');
      return { changeColumn: columnPath(column), type };
    }
    case 'comment': {
      const [column, comment] = pair(argument, 'COLUMN=TEXT', true);
      return { changeColumn: columnPath(column), comment: comment === '' ? null : comment };
    }
    case 'default': {
      const [column, text] = pair(argument, 'COLUMN=EXPRESSION', true);
      return { changeColumn: columnPath(column), default: text === '' ? null : text };
    }
    case 'nullable':
      return { changeColumn: columnPath(argument), nullable: true };
    case 'move': {
      const [column, place] = pair(argument, 'COLUMN=first or COLUMN=OTHER');
      return {
        changeColumn: columnPath(column),
        ...(place === 'first' ? { first: true } : { after: nameOf(place) }),
      };
    }
    case 'set': {
      const [name, text] = pair(argument, 'KEY=VALUE', true);
      return { setProperties: { [name]: text } };
    }
    case 'unset':
      return { unsetProperties: [argument] };
    case 'addConstraint': {
      const [name, check] = pair(argument, 'NAME=CONDITION');
      return { addConstraint: name, check };
    }
    case 'dropConstraint':
      return { dropConstraint: argument };
    case 'dropFeature':
      return { dropFeature: argument };
    case 'name':
      return { name: argument === '' ? null : argument };
    case 'description':
      return { description: argument === '' ? null : argument };
  }
}

/** A column as SQL spells it: `a.b` is a field of a struct, a name in backquotes itself. */
export function columnPath(text: string): readonly string[] {
  const columns = parseColumnList(text);
  if (columns?.length === 1) return columns[0]!;
  throw new InvalidArgumentError(`'${text}' is no column; a name with other characters goes in backquotes.`);
}

/** A new name, or one among its siblings. */
export function nameOf(text: string): string {
  const path = columnPath(text);
  if (path.length === 1) return path[0]!;
  throw new InvalidArgumentError(`'${text}' is no single name; one with a dot goes in backquotes.`);
}

function pair(text: string, form: string, mayBeEmpty = false): readonly [string, string] {
  // A name in backquotes may have a =.
  const quoted = /^(?:`(?:[^`]|``)*`|[^`=])*/.exec(text)![0];
  const at = quoted.length;
  const [name, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (text[at] === '=' && name !== '' && (mayBeEmpty || value !== '')) return [name, value];
  throw new InvalidArgumentError(`It must be ${form}.`);
}
