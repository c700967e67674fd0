/** Numbers as text, exactly. */

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/;
const POWERS: bigint[] = [1n];

/** 10 to the power of n. */
export function powerOfTen(n: number): bigint {
  for (let i = POWERS.length; i <= n; i++) POWERS.push(POWERS[i - 1]! * 10n);
  return POWERS[n]!;
}

/** The unscaled value of a decimal at `scale`, or why there is none: `syntax`, `scale` (digits would be lost) or `range` (more than `precision` digits). */
export function parseDecimalText(
  text: string,
  precision: number,
  scale: number,
): bigint | 'syntax' | 'scale' | 'range' {
  const match = DECIMAL.exec(text);
  if (match === null) return 'syntax';
  const whole = match[2] ?? '';
  const fraction = match[3] ?? '';
  if (whole.length + fraction.length === 0) return 'syntax';
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  // The value is digits x 10^shift at the scale wanted.
  const shift = Number(match[4] ?? 0) - fraction.length + scale;
  const kept = shift >= 0 ? digits : digits.slice(0, Math.max(0, digits.length + shift));
  if (shift < 0 && /[1-9]/.test(digits.slice(Math.max(0, digits.length + shift)))) return 'scale';
  if (kept.length + Math.max(0, shift) > precision) return 'range';
  const unscaled = BigInt(kept === '' ? '0' : kept) * powerOfTen(Math.max(0, shift));
  return match[1] === '-' ? -unscaled : unscaled;
}

/** A decimal with exactly `scale` fraction digits and no exponent: `-12345.67`, `0.00`. */
export function decimalText(unscaled: bigint, scale: number): string {
  const negative = unscaled < 0n;
  let digits = (negative ? -unscaled : unscaled).toString();
  if (scale > 0) {
    digits = digits.padStart(scale + 1, '0');
    digits = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  }
  return negative ? `-${digits}` : digits;
}

/** True when the unscaled value has at most `precision` digits. */
export function fitsPrecision(unscaled: bigint, precision: number): boolean {
  const limit = powerOfTen(precision);
  return unscaled < limit && unscaled > -limit;
}

/** The shortest decimal that reads back as the same double, as Spark writes doubles: `1.0`, `1.0E20`, `1.0E-7`, `NaN`, `-0.0`. */
export function doubleText(value: number): string {
  return Number.isFinite(value) ? javaForm(value, value.toExponential()) : String(value);
}

/** The same for a float: the fewest digits that read back as the same float. */
export function floatText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  for (let digits = 0; digits < 9; digits++) {
    const text = value.toExponential(digits);
    if (Math.fround(Number(text)) === Math.fround(value)) return javaForm(value, text);
  }
  return javaForm(value, value.toExponential(9));
}

function javaForm(value: number, exponential: string): string {
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa, exponentText] = exponential.split('e') as [string, string];
  const exponent = Number(exponentText);
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '').replace(/0+$/, '');
  if (exponent < -3 || exponent >= 7) return `${sign}${digits[0]}.${digits.slice(1) || '0'}E${exponent}`;
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

/** Reads a floating point number as engines write them, with NaN and the infinities in any case; undefined when the text is none. */
export function parseDoubleText(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text);
  const special = /^([+-]?)(nan|inf|infinity)$/i.exec(text);
  if (special === null) return undefined;
  if (special[2]!.toLowerCase() === 'nan') return Number.NaN;
  return special[1] === '-' ? -Infinity : Infinity;
}

/** The least and greatest value of an integer type. */
export const INTEGER_RANGE = {
  byte: [-128n, 127n],
  short: [-32_768n, 32_767n],
  integer: [-2_147_483_648n, 2_147_483_647n],
  long: [-9_223_372_036_854_775_808n, 9_223_372_036_854_775_807n],
} as const;
