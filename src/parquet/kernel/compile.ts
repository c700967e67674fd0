import { TableError } from '../../errors.js';
import { signed, unsigned } from './module.js';

export type KernelType = 'i32' | 'i64' | 'v128';

/** A routine ready for a module: it gives an i32. */
export interface Routine {
  readonly name: string;
  readonly parameters: readonly KernelType[];
  readonly locals: readonly KernelType[];
  readonly code: readonly number[];
}

interface Value {
  readonly type: KernelType;
  readonly code: readonly number[];
}

const TOKEN =
  /\s*(?:\/\/[^\n]*\s*)*(0x[0-9a-f]+|\d+|\w+|>>>|>>|<<|<=|>=|==|!=|&&|\|\||[-+*&|^<>=(){}[\];:,])/y;

/** Binary operators by how tightly they bind; the opcodes for i32 and i64. */
const OPERATORS: Readonly<Record<string, readonly [level: number, i32: number, i64: number]>> = {
  '||': [1, 0, 0],
  '&&': [2, 0, 0],
  '|': [3, 0x72, 0x84],
  '^': [4, 0x73, 0x85],
  '&': [5, 0x71, 0x83],
  '==': [6, 0x46, 0x51],
  '!=': [6, 0x47, 0x52],
  '<': [7, 0x48, 0x53],
  '>': [7, 0x4a, 0x55],
  '<=': [7, 0x4c, 0x57],
  '>=': [7, 0x4e, 0x59],
  '<<': [8, 0x74, 0x86],
  '>>': [8, 0x75, 0x87],
  '>>>': [8, 0x76, 0x88],
  '+': [9, 0x6a, 0x7c],
  '-': [9, 0x6b, 0x7d],
  '*': [10, 0x6c, 0x7e],
};
const COMPARISONS = new Set(['==', '!=', '<', '>', '<=', '>=']);

const MEMORY: Readonly<Record<string, { type: KernelType; load: number[]; store: number[] }>> = {
  u8: { type: 'i32', load: [0x2d, 0, 0], store: [0x3a, 0, 0] },
  u16: { type: 'i32', load: [0x2f, 0, 0], store: [0x3b, 0, 0] },
  i32: { type: 'i32', load: [0x28, 0, 0], store: [0x36, 0, 0] },
  i64: { type: 'i64', load: [0x29, 0, 0], store: [0x37, 0, 0] },
  v128: { type: 'v128', load: [0xfd, 0, 0, 0], store: [0xfd, 11, 0, 0] },
};

const BUILT_IN: Readonly<Record<string, { takes: KernelType[]; gives?: KernelType; code: number[] }>> = {
  less: { takes: ['i32', 'i32'], gives: 'i32', code: [0x49] },
  above: { takes: ['i32', 'i32'], gives: 'i32', code: [0x4b] },
  low: { takes: ['i64'], gives: 'i32', code: [0xa7] },
  long: { takes: ['i32'], gives: 'i64', code: [0xac] },
  copy: { takes: ['i32', 'i32', 'i32'], code: [0xfc, 10, 0, 0] },
  fill: { takes: ['i32', 'i32', 'i32'], code: [0xfc, 11, 0] },
};

const VOID = 0x40;
const I32 = 0x7f;

/**
 * Compiles the kernel language. The few loops that decide how fast a file is read are written in it.
 *
 * `fn name(a, b: i64) { ... }` gives an i32: 0 unless it returns another. `let`, `=`, `if`, `else`, `while`, `break`, `return`; names are i32 unless declared
 * `: i64`; operators as in C, comparisons signed; `&&` and `||` take and give 0 or 1, both sides looked at only where needed. Memory is `u8[at]`, `u16[at]`,
 * `i32[at]`, `i64[at]`, `v128[at]`, at byte addresses of any alignment. Built in: `less` and `above` compare unsigned, `long` widens a signed number, `low`
 * cuts one, `copy(to, from, bytes)` and `fill(to, byte, bytes)` act on memory.
 */
export function compileRoutines(source: string): Routine[] {
  return new Compiler(source).routines();
}

class Compiler {
  readonly #source: string;
  #at = 0;
  #next = '';
  #routines: { name: string; parameters: KernelType[] }[] = [];
  #names = new Map<string, { index: number; type: KernelType }>();
  #types: KernelType[] = [];
  /** How many blocks are open, and how many were at the start of the innermost loop. */
  #depth = 0;
  #loop = -1;

  constructor(source: string) {
    this.#source = source;
    this.#advance();
  }

  routines(): Routine[] {
    const done: Routine[] = [];
    while (this.#next !== '') {
      this.#expect('fn');
      const name = this.#take();
      this.#names = new Map();
      this.#types = [];
      this.#expect('(');
      while (this.#next !== ')') {
        this.#declare(this.#take());
        if (this.#next === ',') this.#advance();
      }
      this.#expect(')');
      const parameters = this.#types;
      this.#routines.push({ name, parameters: [...parameters] });
      const count = parameters.length;
      const code = [...this.#block(), 0x41, 0];
      done.push({ name, parameters: this.#types.slice(0, count), locals: this.#types.slice(count), code });
    }
    return done;
  }

  #block(): number[] {
    this.#expect('{');
    const code: number[] = [];
    while (this.#next !== '}') code.push(...this.#statement());
    this.#advance();
    return code;
  }

  #statement(): readonly number[] {
    const word = this.#take();
    if (word === 'if') return this.#if();
    if (word === 'while') return this.#while();
    if (word === 'break') {
      this.#expect(';');
      return [0x0c, ...unsigned(this.#depth - this.#loop)];
    }
    if (word === 'return') return [...this.#ended('i32'), 0x0f];
    if (word === 'let') {
      const local = this.#declare(this.#take());
      this.#expect('=');
      return [...this.#ended(local.type), 0x21, ...unsigned(local.index)];
    }
    const memory = MEMORY[word];
    if (memory && this.#next === '[') {
      const address = this.#index();
      this.#expect('=');
      return [...address, ...this.#ended(memory.type), ...memory.store];
    }
    if (this.#next === '(') {
      const { type, code } = this.#call(word);
      this.#expect(';');
      return type === undefined ? code : [...code, 0x1a];
    }
    const local = this.#names.get(word) ?? this.#fail(`unknown name ${word}`);
    this.#expect('=');
    return [...this.#ended(local.type), 0x21, ...unsigned(local.index)];
  }

  #if(): number[] {
    const condition = this.#condition();
    this.#depth++;
    const code = [...condition, 0x04, VOID, ...this.#block()];
    if (this.#sees('else')) {
      this.#advance();
      const isChain = this.#sees('if');
      if (isChain) this.#advance();
      code.push(0x05, ...(isChain ? this.#if() : this.#block()));
    }
    this.#depth--;
    return [...code, 0x0b];
  }

  #while(): number[] {
    const outer = this.#loop;
    const condition = this.#condition();
    this.#loop = this.#depth + 1;
    this.#depth += 2;
    const body = this.#block();
    this.#depth -= 2;
    this.#loop = outer;
    return [0x02, VOID, 0x03, VOID, ...condition, 0x45, 0x0d, 1, ...body, 0x0c, 0, 0x0b, 0x0b];
  }

  #condition(): readonly number[] {
    this.#expect('(');
    const code = this.#typed('i32');
    this.#expect(')');
    return code;
  }

  /** An expression up to its semicolon. */
  #ended(type: KernelType): readonly number[] {
    const code = this.#typed(type);
    this.#expect(';');
    return code;
  }

  #typed(type: KernelType): readonly number[] {
    const value = this.#expression(0);
    if (value.type !== type) this.#fail(`${value.type} where ${type} is wanted`);
    return value.code;
  }

  #expression(above: number): Value {
    let left = this.#operand();
    for (;;) {
      const sign = this.#next;
      const operator = OPERATORS[sign];
      if (operator === undefined || operator[0] <= above) return left;
      this.#advance();
      const right = this.#expression(operator[0]);
      if (left.type !== right.type) this.#fail(`${left.type} ${sign} ${right.type}`);
      left = combine(sign, operator, left, right);
    }
  }

  #operand(): Value {
    const word = this.#take();
    if (word === '(') {
      const inner = this.#expression(0);
      this.#expect(')');
      return inner;
    }
    if (word === '-') return { type: 'i32', code: [0x41, ...signed(-Number(this.#take()))] };
    if (/^\d/.test(word)) return { type: 'i32', code: [0x41, ...signed(Number(word) | 0)] };
    const memory = MEMORY[word];
    if (memory && this.#next === '[') return { type: memory.type, code: [...this.#index(), ...memory.load] };
    if (this.#next === '(') {
      const { type, code } = this.#call(word);
      return { type: type ?? this.#fail(`${word} gives nothing`), code };
    }
    const local = this.#names.get(word) ?? this.#fail(`unknown name ${word}`);
    return { type: local.type, code: [0x20, ...unsigned(local.index)] };
  }

  #index(): readonly number[] {
    this.#expect('[');
    const code = this.#typed('i32');
    this.#expect(']');
    return code;
  }

  #call(name: string): { type: KernelType | undefined; code: readonly number[] } {
    const routine = this.#routines.findIndex((known) => known.name === name);
    const builtIn = BUILT_IN[name];
    const takes =
      this.#routines[routine]?.parameters ?? builtIn?.takes ?? this.#fail(`unknown routine ${name}`);
    const code: number[] = [];
    this.#expect('(');
    for (const [i, type] of takes.entries()) {
      if (i > 0) this.#expect(',');
      code.push(...this.#typed(type));
    }
    this.#expect(')');
    if (routine >= 0) return { type: 'i32', code: [...code, 0x10, ...unsigned(routine)] };
    return { type: builtIn!.gives, code: [...code, ...builtIn!.code] };
  }

  #declare(name: string): { index: number; type: KernelType } {
    let type: KernelType = 'i32';
    if (this.#next === ':') {
      this.#advance();
      type = this.#take() as KernelType;
    }
    const known = this.#names.get(name);
    if (known?.type === type) return known;
    if (known) this.#fail(`${name} has another type`);
    const local = { index: this.#types.length, type };
    this.#types.push(type);
    this.#names.set(name, local);
    return local;
  }

  #sees(token: string): boolean {
    return this.#next === token;
  }

  #expect(token: string): void {
    if (this.#take() !== token) this.#fail(`${token} expected`);
  }

  #take(): string {
    const token = this.#next;
    this.#advance();
    return token;
  }

  #advance(): void {
    TOKEN.lastIndex = this.#at;
    const [whole, token] = TOKEN.exec(this.#source) ?? ['', ''];
    if (token === '' && this.#source.slice(this.#at).trim() !== '') this.#fail('no token');
    this.#at += whole.length;
    this.#next = token!;
  }

  #fail(what: string): never {
    const line = this.#source.slice(0, this.#at).split('\n').length;
    throw new TableError('INTERNAL', `Line ${line} of the kernel does not compile: ${what}.`);
  }
}

function combine(
  sign: string,
  [, i32, i64]: readonly [number, number, number],
  left: Value,
  right: Value,
): Value {
  if (sign === '&&')
    return { type: 'i32', code: [...left.code, 0x04, I32, ...right.code, 0x05, 0x41, 0, 0x0b] };
  if (sign === '||')
    return { type: 'i32', code: [...left.code, 0x04, I32, 0x41, 1, 0x05, ...right.code, 0x0b] };
  const type = COMPARISONS.has(sign) ? 'i32' : left.type;
  return { type, code: [...left.code, ...right.code, left.type === 'i64' ? i64 : i32] };
}
