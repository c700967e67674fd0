import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CsvParser } from '../../../../src/cli/input/csv-records.js';

const form = { delimiter: ',', nullText: undefined };

function parse(text: string, cuts: readonly number[] = []): (string | null)[][] {
  const parser = new CsvParser('f.csv', form);
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  const pieces = [0, ...places].map((start, i, all) => text.slice(start, all[i + 1] ?? text.length));
  const records = pieces.flatMap((piece) => parser.push(piece, false));
  return [...records, ...parser.push('', true)].map(({ cells }) => [...cells]);
}

function cellText(cell: string | null): string {
  if (cell === null) return '';
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

describe('CSV records', () => {
  test('an empty cell is NULL and a quoted one is the empty text', () => {
    expect(parse('a,"",,"x ""y"""\n,\n')).toEqual([
      ['a', '', null, 'x "y"'],
      [null, null],
    ]);
  });

  test('lines end in LF or CRLF, the last one in neither if need be', () => {
    expect(parse('a,b\r\n"c",d\n"e","f"\r\ng,h\r')).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
      ['g', 'h'],
    ]);
    expect(parse('a,')).toEqual([['a', null]]);
    expect(parse('\n\na')).toEqual([[null], [null], ['a']]);
    expect(parse('')).toEqual([]);
  });

  test('a record is told by the line it begins on', () => {
    const parser = new CsvParser('f.csv', form);
    const records = parser.push('a\n"b\nb"\n"c"\n', true);
    expect(records.map(({ line }) => line)).toEqual([1, 2, 4]);
  });

  test('a text may stand for NULL unless it is in quotes', () => {
    const parser = new CsvParser('f.csv', { delimiter: '\t', nullText: '\\N' });
    expect(parser.push('\\N\t"\\N"\t1,2\n', true)[0]!.cells).toEqual([null, '\\N', '1,2']);
  });

  test.each([
    ['a\n"b', /line 2: a quote that is never closed/],
    ['"a"b\n', /line 1: text behind a closing quote/],
    ['a\nb"c\n', /line 2: a quote inside a cell/],
  ])('%j is refused', (text, words) => {
    expect(() => parse(text)).toThrow(words);
  });

  test('what was written is read back, however the text is cut', () => {
    const cell = fc.option(fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'é') }));
    const records = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 5 });
    fc.assert(
      fc.property(
        records,
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.nat(), { maxLength: 4 }),
        (rows, end, cuts) => {
          const text = rows.map((cells) => cells.map(cellText).join(',') + end).join('');
          expect(parse(text, cuts)).toEqual(rows);
        },
      ),
    );
  });
});
