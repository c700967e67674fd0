/** The routines that decode values, in the kernel language; as in `PAGE_ROUTINES`, which stand before them. */
export const VALUE_ROUTINES = `
// Moves values that stand one after another from at on to where the levels have them, and clears the rest.
fn spread4(levels, count, present, at) {
  let from = at + (present << 2);
  let i = count - 1;
  while (i >= 0) {
    if (i32[levels + (i << 2)] != 0) {
      from = from - 4;
      i32[at + (i << 2)] = i32[from];
    } else {
      i32[at + (i << 2)] = 0;
    }
    i = i - 1;
  }
}

fn spread8(levels, count, present, at) {
  let from = at + (present << 3);
  let i = count - 1;
  while (i >= 0) {
    if (i32[levels + (i << 2)] != 0) {
      from = from - 8;
      i64[at + (i << 3)] = i64[from];
    } else {
      i64[at + (i << 3)] = long(0);
    }
    i = i - 1;
  }
}

// The same of where texts end: what is not there ends where the one before it does. The end of the text before the first stands before at.
fn spreadEnds(levels, count, present, at) {
  let from = at + (present << 2) - 4;
  let i = count - 1;
  while (i >= 0) {
    i32[at + (i << 2)] = i32[from];
    if (i32[levels + (i << 2)] != 0) { from = from - 4; }
    i = i - 1;
  }
}

// Looks values of 4 or 8 bytes up in a dictionary.
fn gather4(codes, count, dictionary, size, to) {
  let stop = codes + (count << 2);
  while (codes < stop) {
    let code = i32[codes];
    if (less(code, size) == 0) { return -1; }
    i32[to] = i32[dictionary + (code << 2)];
    to = to + 4;
    codes = codes + 4;
  }
}

fn gather8(codes, count, dictionary, size, to) {
  let stop = codes + (count << 2);
  while (codes < stop) {
    let code = i32[codes];
    if (less(code, size) == 0) { return -1; }
    i64[to] = i64[dictionary + (code << 3)];
    to = to + 8;
    codes = codes + 4;
  }
}

// Notes where each of the texts in [from, end) begins, which is at its length.
fn index(from, end, count, table) {
  let stop = table + (count << 2);
  while (table < stop) {
    if (end - from < 4) { return -1; }
    i32[table] = from;
    let length = i32[from];
    from = from + 4;
    if (above(length, end - from)) { return -1; }
    from = from + length;
    table = table + 4;
  }
  return from;
}

// The bytes of the texts looked up, together; every code is checked.
fn measure(codes, count, table, size) {
  let stop = codes + (count << 2);
  let total: i64 = long(0);
  while (codes < stop) {
    let code = i32[codes];
    if (less(code, size) == 0) { return -1; }
    total = total + long(i32[i32[table + (code << 2)]]);
    codes = codes + 4;
  }
  if (total > long(0x3fffffff)) { return -1; }
  return low(total);
}

// Looks texts up, after measure: writes their bytes to to, and where each ends, counted from base.
fn gatherTexts(codes, count, table, ends, to, base) {
  let stop = codes + (count << 2);
  while (codes < stop) {
    let from = i32[table + (i32[codes] << 2)];
    let length = i32[from];
    if (length <= 16) {
      v128[to] = v128[from + 4];
    } else if (length <= 32) {
      v128[to] = v128[from + 4];
      v128[to + 16] = v128[from + 20];
    } else {
      copy(to, from + 4, length);
    }
    to = to + length;
    i32[ends] = to - base;
    ends = ends + 4;
    codes = codes + 4;
  }
  return to;
}

// Takes texts, each after its length, out of [from, end).
fn texts(from, end, count, ends, to, base) {
  let stop = ends + (count << 2);
  while (ends < stop) {
    if (end - from < 4) { return -1; }
    let length = i32[from];
    from = from + 4;
    if (above(length, end - from)) { return -1; }
    if (length <= 16) {
      v128[to] = v128[from];
    } else if (length <= 32) {
      v128[to] = v128[from];
      v128[to + 16] = v128[from + 16];
    } else {
      copy(to, from, length);
    }
    from = from + length;
    to = to + length;
    i32[ends] = to - base;
    ends = ends + 4;
  }
  return to;
}

// A number in groups of 7 bits, for the routines below: where it ends. The number itself is left at slot.
fn varint(from, end, slot) {
  let value: i64 = long(0);
  let shift = 0;
  let byte = 128;
  while (byte >= 128) {
    if (from >= end || shift > 63) { return -1; }
    byte = u8[from];
    from = from + 1;
    if (shift == 63 && byte > 1) { return -1; }
    value = value | long(byte & 127) << long(shift);
    shift = shift + 7;
  }
  i64[slot] = value;
  return from;
}

// Decodes DELTA_BINARY_PACKED to values of 4 or 8 bytes; where it ends. slot has room for 8 bytes.
fn deltas(from, end, count, to, width, slot) {
  from = varint(from, end, slot);
  if (from < 0) { return -1; }
  let block: i64 = i64[slot];
  from = varint(from, end, slot);
  if (from < 0) { return -1; }
  let minis: i64 = i64[slot];
  from = varint(from, end, slot);
  if (from < 0) { return -1; }
  if (i64[slot] < long(count)) { return -1; }
  from = varint(from, end, slot);
  if (from < 0) { return -1; }
  let value: i64 = i64[slot] >>> long(1) ^ long(0) - (i64[slot] & long(1));
  if (minis < long(1) || minis > long(512) || block < long(8) || block > long(16777216)) { return -1; }
  let miniBlocks = low(minis);
  let perMini = 8;
  while (perMini * miniBlocks < low(block)) { perMini = perMini + 8; }
  if (perMini * miniBlocks != low(block)) { return -1; }
  let stop = to + count * width;
  if (to < stop) {
    if (width == 8) { i64[to] = value; } else { i32[to] = low(value); }
    to = to + width;
  }
  while (to < stop) {
    from = varint(from, end, slot);
    if (from < 0) { return -1; }
    let least: i64 = i64[slot] >>> long(1) ^ long(0) - (i64[slot] & long(1));
    let widths = from;
    let widthsEnd = from + miniBlocks;
    from = widthsEnd;
    if (from > end) { return -1; }
    while (widths < widthsEnd && to < stop) {
      let wide = u8[widths];
      widths = widths + 1;
      if (wide > width << 3) { return -1; }
      let until = to + perMini * width;
      let size = perMini * wide >> 3;
      if (until >= stop) {
        until = stop;
        // The last one may be cut short.
        let count = (stop - to) >> 2;
        if (width == 8) { count = count >> 1; }
        let needed = (count * wide + 7) >> 3;
        if (needed > end - from) { return -1; }
        if (size > end - from) { size = end - from; }
      }
      if (size > end - from) { return -1; }
      let bit = 0;
      let mask: i64 = (long(1) << long(wide)) - long(1);
      if (wide == 64) { mask = long(-1); }
      if (wide <= 57) {
        if (width == 8) {
          while (to < until) {
            value = value + least + (i64[from + (bit >>> 3)] >>> long(bit & 7) & mask);
            i64[to] = value;
            bit = bit + wide;
            to = to + 8;
          }
        } else {
          while (to < until) {
            value = value + least + (i64[from + (bit >>> 3)] >>> long(bit & 7) & mask);
            i32[to] = low(value);
            bit = bit + wide;
            to = to + 4;
          }
        }
      } else {
        while (to < until) {
          let at = from + (bit >>> 3);
          let cut = bit & 7;
          let delta: i64 = i64[at] >>> long(cut);
          if (cut != 0) { delta = delta | i64[at + 8] << long(64 - cut); }
          value = value + least + (delta & mask);
          i64[to] = value;
          bit = bit + wide;
          to = to + 8;
        }
      }
      from = from + size;
    }
  }
  return from;
}

// The sum of lengths, none of which may be negative.
fn sum(lengths, count) {
  let stop = lengths + (count << 2);
  let total: i64 = long(0);
  while (lengths < stop) {
    if (i32[lengths] < 0) { return -1; }
    total = total + long(i32[lengths]);
    lengths = lengths + 4;
  }
  if (total > long(0x3fffffff)) { return -1; }
  return low(total);
}

// Where texts end whose lengths are given, the first of which begins at start.
fn endsOf(lengths, count, ends, start) {
  let stop = lengths + (count << 2);
  while (lengths < stop) {
    start = start + i32[lengths];
    i32[ends] = start;
    ends = ends + 4;
    lengths = lengths + 4;
  }
}

// Takes texts out of [from, end) that share a prefix, whose length is given, with the one before.
fn fronted(prefixes, suffixes, count, from, end, ends, to, base) {
  let stop = prefixes + (count << 2);
  let before = to;
  while (prefixes < stop) {
    let prefix = i32[prefixes];
    let suffix = i32[suffixes];
    if (above(prefix, to - before) || above(suffix, end - from)) { return -1; }
    copy(to, before, prefix);
    copy(to + prefix, from, suffix);
    before = to;
    from = from + suffix;
    to = to + prefix + suffix;
    i32[ends] = to - base;
    ends = ends + 4;
    prefixes = prefixes + 4;
    suffixes = suffixes + 4;
  }
  return to;
}

// Puts values together whose bytes stand in streams, one a byte of their width.
fn unsplit(from, count, width, to) {
  let stream = 0;
  while (stream < width) {
    let at = to + stream;
    let stop = from + count;
    while (from < stop) {
      u8[at] = u8[from];
      at = at + width;
      from = from + 1;
    }
    stream = stream + 1;
  }
}

// Cuts numbers of 4 bytes to 1 or 2, in place.
fn narrow(at, count, width) {
  let to = at;
  let stop = at + (count << 2);
  while (at < stop) {
    if (width == 1) { u8[to] = i32[at]; } else { u16[to] = i32[at]; }
    to = to + width;
    at = at + 4;
  }
}

// Widens signed numbers of 4 or 8 bytes to 16, in place.
fn widen(at, count, width) {
  let i = count - 1;
  while (i >= 0) {
    let value: i64 = long(0);
    if (width == 8) { value = i64[at + (i << 3)]; } else { value = long(i32[at + (i << 2)]); }
    i64[at + (i << 4)] = value;
    i64[at + (i << 4) + 8] = value >> long(63);
    i = i - 1;
  }
}
`;
