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
};

const VOID = 0x40;
const I32 = 0x7f;
const BLOCK = 0x02;
const LOOP = 0x03;
const IF = 0x04;
const ELSE = 0x05;
const END = 0x0b;
const BRANCH = 0x0c;
const BRANCH_IF = 0x0d;
const RETURN = 0x0f;
const CALL = 0x10;
const DROP = 0x1a;
const LOCAL_GET = 0x20;
const LOCAL_SET = 0x21;
const CONST_I32 = 0x41;
const NOT = 0x45;

/**
 * Compiles the kernel language. The few loops that decide how fast a file is read are written in it.
 *
 * `fn name(a, b: i64) { ... }` gives an i32: 0 unless it returns another. `let`, `=`, `if`, `else`, `while`, `break`, `return`; names are i32 unless declared
 * `: i64`; operators as in C, comparisons signed; `&&` and `||` take and give 0 or 1, both sides looked at only where needed. Memory is `u8[at]`, `u16[at]`,
 * `i32[at]`, `i64[at]`, `v128[at]`, at byte addresses of any alignment. Built in: `less` and `above` compare unsigned, `long` widens a signed number, `low`
 * cuts one, `copy(to, from, bytes)` moves memory.
 */
export function compileRoutines(source: string): Routine[] {
  return new Compiler(source).routines();
}

class Compiler {
  readonly #source: string;
  #at = 0;
  #next = '';
  #routines = new Map<string, { index: number; parameters: KernelType[] }>();
  #names = new Map<string, { index: number; type: KernelType }>();
  #types: KernelType[] = [];
  #code: number[] = [];
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
      this.#code = [];
      this.#expect('(');
      while (this.#next !== ')') {
        this.#declare(this.#take());
        if (this.#next === ',') this.#advance();
      }
      this.#expect(')');
      const parameters = [...this.#types];
      this.#routines.set(name, { index: done.length, parameters });
      this.#block();
      this.#code.push(CONST_I32, 0);
      done.push({ name, parameters, locals: this.#types.slice(parameters.length), code: this.#code });
    }
    return done;
  }

  #block(): void {
    this.#expect('{');
    while (this.#next !== '}') this.#statement();
    this.#advance();
  }

  #statement(): void {
    const word = this.#take();
    switch (word) {
      case 'if':
        this.#if();
        break;
      case 'while':
        this.#while();
        break;
      case 'break':
        this.#emit(BRANCH, this.#depth - this.#loop);
        this.#expect(';');
        break;
      case 'return':
        this.#ended('i32');
        this.#code.push(RETURN);
        break;
      case 'let':
        this.#assign(this.#declare(this.#take()));
        break;
      default:
        this.#effect(word);
    }
  }

  #effect(word: string): void {
    const memory = MEMORY[word];
    if (memory && this.#next === '[') {
      this.#address();
      this.#expect('=');
      this.#ended(memory.type);
      this.#code.push(...memory.store);
    } else if (this.#next === '(') {
      if (this.#call(word) !== undefined) this.#code.push(DROP);
      this.#expect(';');
    } else this.#assign(this.#local(word));
  }

  #assign({ index, type }: { index: number; type: KernelType }): void {
    this.#expect('=');
    this.#ended(type);
    this.#emit(LOCAL_SET, index);
  }

  #if(): void {
    this.#condition();
    this.#depth++;
    this.#code.push(IF, VOID);
    this.#block();
    if (this.#sees('else')) {
      this.#advance();
      this.#code.push(ELSE);
      if (this.#sees('if')) {
        this.#advance();
        this.#if();
      } else this.#block();
    }
    this.#depth--;
    this.#code.push(END);
  }

  #while(): void {
    const outer = this.#loop;
    this.#code.push(BLOCK, VOID, LOOP, VOID);
    this.#condition();
    this.#code.push(NOT, BRANCH_IF, 1);
    this.#loop = this.#depth + 1;
    this.#depth += 2;
    this.#block();
    this.#depth -= 2;
    this.#loop = outer;
    this.#code.push(BRANCH, 0, END, END);
  }

  #condition(): void {
    this.#expect('(');
    this.#typed('i32');
    this.#expect(')');
  }

  /** An expression up to its semicolon. */
  #ended(type: KernelType): void {
    this.#typed(type);
    this.#expect(';');
  }

  #typed(type: KernelType): void {
    const found = this.#expression(0);
    if (found !== type) this.#fail(`${found} where ${type} is wanted`);
  }

  #expression(above: number): KernelType {
    let left = this.#operand();
    for (;;) {
      const sign = this.#next;
      const operator = OPERATORS[sign];
      if (operator === undefined || operator[0] <= above) return left;
      this.#advance();
      if (sign === '&&') this.#code.push(IF, I32);
      if (sign === '||') this.#code.push(IF, I32, CONST_I32, 1, ELSE);
      const right = this.#expression(operator[0]);
      if (left !== right) this.#fail(`${left} ${sign} ${right}`);
      if (sign === '&&') this.#code.push(ELSE, CONST_I32, 0, END);
      else if (sign === '||') this.#code.push(END);
      else this.#code.push(left === 'i64' ? operator[2] : operator[1]);
      if (COMPARISONS.has(sign)) left = 'i32';
    }
  }

  #operand(): KernelType {
    const word = this.#take();
    if (word === '(') {
      const inner = this.#expression(0);
      this.#expect(')');
      return inner;
    }
    const isNegative = word === '-';
    const number = Number(isNegative ? this.#take() : word);
    if (!Number.isNaN(number)) {
      this.#code.push(CONST_I32, ...signed((isNegative ? -number : number) | 0));
      return 'i32';
    }
    const memory = MEMORY[word];
    if (memory && this.#next === '[') {
      this.#address();
      this.#code.push(...memory.load);
      return memory.type;
    }
    if (this.#next === '(') return this.#call(word) ?? this.#fail(`${word} gives nothing`);
    const { index, type } = this.#local(word);
    this.#emit(LOCAL_GET, index);
    return type;
  }

  #address(): void {
    this.#expect('[');
    this.#typed('i32');
    this.#expect(']');
  }

  #call(name: string): KernelType | undefined {
    const routine = this.#routines.get(name);
    const builtIn = BUILT_IN[name];
    const takes = routine?.parameters ?? builtIn?.takes ?? this.#fail(`unknown routine ${name}`);
    this.#expect('(');
    for (const [i, type] of takes.entries()) {
      if (i > 0) this.#expect(',');
      this.#typed(type);
    }
    this.#expect(')');
    if (routine) this.#emit(CALL, routine.index);
    else this.#code.push(...builtIn!.code);
    return routine ? 'i32' : builtIn!.gives;
  }

  #local(name: string): { index: number; type: KernelType } {
    return this.#names.get(name) ?? this.#fail(`unknown name ${name}`);
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

  #emit(operation: number, index: number): void {
    this.#code.push(operation, ...unsigned(index));
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
