/**
 * The routines that take pages apart, in the kernel language (see `compileRoutines`). Numbers are byte addresses in the kernel's memory, or counts. Each
 * checks its input in full and gives -1 where that is not what it should be; only then are its results of no use. They may read and write up to 64 bytes
 * past the places given: what lies behind a place is written later, or is slack.
 */
export const PAGE_ROUTINES = `
// Decompresses a Snappy block [from, end) into [to, stop), which it must fill.
fn snappy(from, end, to, stop) {
  let start = to;
  let length = 0;
  let shift = 0;
  let byte = 128;
  while (byte >= 128) {
    if (from >= end || shift > 28) { return -1; }
    byte = u8[from];
    from = from + 1;
    length = length | (byte & 127) << shift;
    shift = shift + 7;
  }
  if (length != stop - to) { return -1; }
  while (from < end) {
    let tag = u8[from];
    from = from + 1;
    let size = tag >>> 2;
    let kind = tag & 3;
    if (kind == 0) {
      if (size >= 60) {
        let bytes = size - 59;
        size = i32[from] & (-1 >>> ((4 - bytes) << 3));
        from = from + bytes;
        if (from > end) { return -1; }
      }
      // Sizes are one less than what they stand for, and may look negative.
      if (less(size, end - from) == 0 || less(size, stop - to) == 0) { return -1; }
      size = size + 1;
      if (size <= 16) {
        v128[to] = v128[from];
      } else if (size <= 64) {
        v128[to] = v128[from];
        v128[to + 16] = v128[from + 16];
        if (size > 32) {
          v128[to + 32] = v128[from + 32];
          v128[to + 48] = v128[from + 48];
        }
      } else {
        copy(to, from, size);
      }
      from = from + size;
      to = to + size;
    } else {
      let distance = 0;
      if (kind == 1) {
        distance = (tag >>> 5) << 8 | u8[from];
        size = (size & 7) + 4;
        from = from + 1;
      } else if (kind == 2) {
        distance = u16[from];
        size = size + 1;
        from = from + 2;
      } else {
        distance = i32[from];
        size = size + 1;
        from = from + 4;
      }
      if (from > end || less(distance - 1, to - start) == 0 || size > stop - to) { return -1; }
      let until = to + size;
      if (distance >= 16) {
        v128[to] = v128[to - distance];
        if (size > 16) {
          v128[to + 16] = v128[to + 16 - distance];
          if (size > 32) {
            v128[to + 32] = v128[to + 32 - distance];
            v128[to + 48] = v128[to + 48 - distance];
          }
        }
      } else {
        // What is copied repeats what was just copied: each step doubles what is known.
        while (distance < 8 && to < until) {
          i64[to] = i64[to - distance];
          to = to + distance;
          distance = distance + distance;
        }
        while (to < until) {
          i64[to] = i64[to - distance];
          to = to + 8;
        }
      }
      to = until;
    }
  }
  if (to != stop) { return -1; }
  return 0;
}

// Unpacks values of up to 32 bits to 32 bits each.
fn unpack(from, width, to, count) {
  let stop = to + (count << 2);
  let bit = 0;
  let mask = low((long(1) << long(width)) - long(1));
  if (width <= 24) {
    while (to < stop) {
      i32[to] = i32[from + (bit >>> 3)] >>> (bit & 7) & mask;
      bit = bit + width;
      to = to + 4;
    }
  } else {
    while (to < stop) {
      i32[to] = low(i64[from + (bit >>> 3)] >>> long(bit & 7)) & mask;
      bit = bit + width;
      to = to + 4;
    }
  }
}

// Decodes the hybrid of runs and bit-packed values to 32 bits each.
fn hybrid(from, end, width, to, count) {
  let stop = to + (count << 2);
  let bytes = (width + 7) >> 3;
  let mask = low((long(1) << long(bytes << 3)) - long(1));
  while (to < stop) {
    let header = 0;
    let shift = 0;
    let byte = 128;
    while (byte >= 128) {
      if (from >= end || shift > 28) { return -1; }
      byte = u8[from];
      from = from + 1;
      if (shift == 28 && byte > 15) { return -1; }
      header = header | (byte & 127) << shift;
      shift = shift + 7;
    }
    let run = header >>> 1;
    let values = (stop - to) >> 2;
    if (run == 0) { return -1; }
    if ((header & 1) == 1) {
      if (run <= values >> 3) { values = run << 3; }
      let needed = (values * width + 7) >> 3;
      if (needed > end - from) { return -1; }
      unpack(from, width, to, values);
      from = from + needed;
    } else {
      if (bytes > end - from) { return -1; }
      let value = i32[from] & mask;
      from = from + bytes;
      if (run < values) { values = run; }
      let i = 0;
      while (i < values) {
        i32[to + (i << 2)] = value;
        i = i + 1;
      }
    }
    to = to + (values << 2);
  }
  return from;
}

// Decodes the codes of a page, in front of which stands how many bits each has.
fn codes(from, end, to, count) {
  if (from >= end) { return -1; }
  let width = u8[from];
  if (width > 32) { return -1; }
  return hybrid(from + 1, end, width, to, count);
}

fn move(to, from, bytes) {
  copy(to, from, bytes);
}

// 1 where the levels in [from, end) are one run of 1: the form of a page without nulls.
fn full(from, end, count) {
  let header = 0;
  let shift = 0;
  let byte = 128;
  while (byte >= 128) {
    if (from >= end || shift > 21) { return 0; }
    byte = u8[from];
    from = from + 1;
    header = header | (byte & 127) << shift;
    shift = shift + 7;
  }
  return (header & 1) == 0 && header >>> 1 >= count && from < end && u8[from] == 1;
}

// How many of the levels are 1; none may be more.
fn ones(levels, count) {
  let stop = levels + (count << 2);
  let found = 0;
  while (levels < stop) {
    let level = i32[levels];
    if (above(level, 1)) { return -1; }
    found = found + level;
    levels = levels + 4;
  }
  return found;
}

// Sets the bits of an empty bitmap, from bit at on, where the flags are not 0.
fn bits(flags, count, map, at) {
  let i = 0;
  while (i < count && (at & 7) != 0) {
    if (i32[flags + (i << 2)] != 0) { u8[map + (at >> 3)] = u8[map + (at >> 3)] | 1 << (at & 7); }
    at = at + 1;
    i = i + 1;
  }
  let to = map + (at >> 3);
  while (i + 8 <= count) {
    let from = flags + (i << 2);
    u8[to] = (i32[from] != 0) | (i32[from + 4] != 0) << 1 | (i32[from + 8] != 0) << 2 | (i32[from + 12] != 0) << 3
      | (i32[from + 16] != 0) << 4 | (i32[from + 20] != 0) << 5 | (i32[from + 24] != 0) << 6 | (i32[from + 28] != 0) << 7;
    to = to + 1;
    i = i + 8;
  }
  at = 0;
  while (i < count) {
    if (i32[flags + (i << 2)] != 0) { u8[to] = u8[to] | 1 << at; }
    at = at + 1;
    i = i + 1;
  }
}
`;
