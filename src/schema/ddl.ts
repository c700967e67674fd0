import { TableError } from '../errors.js';
import { intervalType, MAX_SCHEMA_DEPTH } from './schema-json.js';
import { quoteName, typeText } from './type-text.js';
import type { DataType, JsonObject, PrimitiveName, StructField, StructType } from './types.js';

const NAMES: Readonly<Record<string, PrimitiveName>> = {
  string: 'string',
  text: 'string',
  long: 'long',
  bigint: 'long',
  int: 'integer',
  integer: 'integer',
  short: 'short',
  smallint: 'short',
  byte: 'byte',
  tinyint: 'byte',
  float: 'float',
  real: 'float',
  double: 'double',
  boolean: 'boolean',
  bool: 'boolean',
  binary: 'binary',
  date: 'date',
  timestamp: 'timestamp',
  timestamp_ltz: 'timestamp',
  timestamp_ntz: 'timestamp_ntz',
  void: 'void',
  variant: 'variant',
};

/** Where Spark keeps the length of char and varchar columns. */
const CHAR_VARCHAR = '__CHAR_VARCHAR_TYPE_STRING';

/**
 * Parses a list of columns as Spark SQL writes them: `id long not null, price decimal(10,2), tags array<string>, s struct<a:int, b:string not null> comment
 * 'x'`. Names in backquotes may hold anything; types in any case, `bigint` and `long` alike. `char(n)` and `varchar(n)` become string columns whose metadata
 * holds the length. Errors: `INVALID_SCHEMA` with the position and what was expected.
 */
export function parseDdl(text: string): StructType {
  const parser = new DdlParser(text);
  const fields = parser.columns();
  parser.end();
  return { type: 'struct', fields };
}

/** Parses one type of the same language: `map<string,array<int>>`. Errors: as `parseDdl`. */
export function parseDdlType(text: string): DataType {
  const parser = new DdlParser(text);
  const { dataType } = parser.type(0);
  parser.end();
  return dataType;
}

/** Writes a schema as `parseDdl` reads it, nullability, comments and lengths of char and varchar included; other metadata is left out. */
export function printDdl(schema: StructType): string {
  return schema.fields.map((field) => printField(field, ' ')).join(', ');
}

function printField(field: StructField, separator: string): string {
  const length = Object.hasOwn(field.metadata, CHAR_VARCHAR) ? field.metadata[CHAR_VARCHAR] : undefined;
  const type = typeof length === 'string' ? length : printType(field.dataType);
  const comment = Object.hasOwn(field.metadata, 'comment') ? field.metadata.comment : undefined;
  const note =
    typeof comment === 'string'
      ? ` comment '${comment.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
      : '';
  return `${quoteName(field.name)}${separator}${type}${field.nullable ? '' : ' not null'}${note}`;
}

function printType(type: DataType): string {
  switch (type.type) {
    case 'struct':
      return `struct<${type.fields.map((field) => printField(field, ': ')).join(', ')}>`;
    case 'array':
      return `array<${printType(type.elementType)}>`;
    case 'map':
      return `map<${printType(type.keyType)}, ${printType(type.valueType)}>`;
    default:
      return typeText(type);
  }
}

const TOKEN = /\s*(?:(`(?:[^`]|``)*`)|([\p{L}\p{N}_$@.-]+)|('(?:[^'\\]|\\[\s\S]|'')*')|([<>(),:]))/uy;

interface Token {
  readonly kind: 'name' | 'word' | 'text' | 'mark';
  readonly value: string;
  readonly at: number;
}

/** Recursive descent over tokens read one at a time. */
class DdlParser {
  readonly #text: string;
  #at = 0;
  #next: Token | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#advance();
  }

  columns(): StructField[] {
    const fields: StructField[] = [];
    do {
      fields.push(this.#field(0, false));
    } while (this.#take(','));
    return fields;
  }

  end(): void {
    if (this.#next !== undefined) throw this.#unexpected("',' or the end");
  }

  #field(depth: number, nested: boolean): StructField {
    const name = this.#name();
    if (nested) this.#take(':');
    const { dataType, metadata } = this.type(depth);
    let nullable = true;
    if (this.#word('not')) {
      if (!this.#word('null')) throw this.#unexpected('NULL');
      nullable = false;
    }
    const comment: JsonObject = this.#word('comment') ? { comment: this.#string() } : {};
    return { name, dataType, nullable, metadata: { ...metadata, ...comment } };
  }

  type(depth: number): { dataType: DataType; metadata: JsonObject } {
    if (depth > MAX_SCHEMA_DEPTH) throw this.#fail(`types are nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
    const token = this.#next;
    if (token?.kind !== 'word') throw this.#unexpected('a type');
    this.#advance();
    const word = token.value.toLowerCase();
    const plain = (dataType: DataType) => ({ dataType, metadata: {} });
    switch (word) {
      case 'decimal':
      case 'dec':
      case 'numeric':
        return plain(this.#decimal(token));
      case 'char':
      case 'varchar':
        return this.#sized(word);
      case 'array': {
        this.#expect('<');
        const element = this.type(depth + 1).dataType;
        this.#expect('>');
        return plain({ type: 'array', elementType: element, containsNull: true });
      }
      case 'map': {
        this.#expect('<');
        const keyType = this.type(depth + 1).dataType;
        this.#expect(',');
        const valueType = this.type(depth + 1).dataType;
        this.#expect('>');
        return plain({ type: 'map', keyType, valueType, valueContainsNull: true });
      }
      case 'struct':
        return plain(this.#struct(depth));
      case 'interval':
        return plain(this.#interval(token));
      default: {
        const name = Object.hasOwn(NAMES, word) ? NAMES[word] : undefined;
        if (name === undefined) throw this.#fail(`'${token.value}' is not a type`, token.at);
        return plain({ type: name });
      }
    }
  }

  #struct(depth: number): StructType {
    this.#expect('<');
    const fields: StructField[] = [];
    if (this.#take('>')) return { type: 'struct', fields };
    do {
      fields.push(this.#field(depth + 1, true));
    } while (this.#take(','));
    this.#expect('>');
    return { type: 'struct', fields };
  }

  /** Not to be written, but understood, so that whoever refuses it can name its column. */
  #interval(token: Token): DataType {
    const unit = () => (this.#next?.kind === 'word' ? this.#name() : '');
    const from = unit();
    const name = this.#word('to') ? `interval ${from} to ${unit()}` : `interval ${from}`;
    const type = intervalType(name.toLowerCase());
    if (type === undefined) throw this.#fail(`'${name}' is not a type`, token.at);
    return type;
  }

  #decimal(token: Token): DataType {
    let precision = 10;
    let scale = 0;
    if (this.#take('(')) {
      precision = this.#integer();
      if (this.#take(',')) scale = this.#integer();
      this.#expect(')');
    }
    if (precision < 1 || precision > 38 || scale > precision) {
      throw this.#fail(
        `decimal(${precision},${scale}): the precision is 1 to 38, the scale 0 to the precision`,
        token.at,
      );
    }
    return { type: 'decimal', precision, scale };
  }

  #sized(word: string): { dataType: DataType; metadata: JsonObject } {
    this.#expect('(');
    const length = this.#integer();
    this.#expect(')');
    return { dataType: { type: 'string' }, metadata: { [CHAR_VARCHAR]: `${word}(${length})` } };
  }

  #name(): string {
    const token = this.#next;
    if (token?.kind !== 'name' && token?.kind !== 'word') throw this.#unexpected('a column name');
    this.#advance();
    return token.value;
  }

  #string(): string {
    const token = this.#next;
    if (token?.kind !== 'text') throw this.#unexpected('a text in quotes');
    this.#advance();
    return token.value;
  }

  #integer(): number {
    const token = this.#next;
    if (token?.kind !== 'word' || !/^\d{1,9}$/.test(token.value)) throw this.#unexpected('a number');
    this.#advance();
    return Number(token.value);
  }

  #word(word: string): boolean {
    if (this.#next?.kind !== 'word' || this.#next.value.toLowerCase() !== word) return false;
    this.#advance();
    return true;
  }

  #take(mark: string): boolean {
    if (this.#next?.kind !== 'mark' || this.#next.value !== mark) return false;
    this.#advance();
    return true;
  }

  #expect(mark: string): void {
    if (!this.#take(mark)) throw this.#unexpected(`'${mark}'`);
  }

  #advance(): void {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (match === null) {
      const rest = this.#text.slice(this.#at);
      this.#next = undefined;
      if (rest.trim() !== '') throw this.#fail(`cannot read ${JSON.stringify(rest.trim().slice(0, 20))}`);
      return;
    }
    const at = TOKEN.lastIndex - match[0].trimStart().length;
    this.#at = TOKEN.lastIndex;
    this.#next =
      match[1] !== undefined
        ? { kind: 'name', value: match[1].slice(1, -1).replaceAll('``', '`'), at }
        : match[2] !== undefined
          ? { kind: 'word', value: match[2], at }
          : match[3] !== undefined
            ? { kind: 'text', value: unquote(match[3]), at }
            : { kind: 'mark', value: match[4]!, at };
  }

  #unexpected(expected: string): TableError {
    const found = this.#next === undefined ? 'the end' : `'${this.#next.value}'`;
    return this.#fail(`expected ${expected}, found ${found}`, this.#next?.at);
  }

  #fail(what: string, at = this.#at): TableError {
    return new TableError('INVALID_SCHEMA', `The schema text cannot be read at position ${at}: ${what}.`, {
      position: at,
      schema: this.#text,
    });
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0' };

function unquote(text: string): string {
  return text
    .slice(1, -1)
    .replace(/\\([\s\S])|''/g, (_, escaped: string | undefined) =>
      escaped === undefined ? "'" : (ESCAPES[escaped] ?? escaped),
    );
}
