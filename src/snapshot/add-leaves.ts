import type { Leaf, SchemaNode } from '../parquet/flat/footer.js';

/** The leaves of `add` that opening a table reads, by what they are for. */
export interface AddLeaves {
  readonly node: SchemaNode;
  readonly path: Leaf;
  readonly opening: readonly Leaf[];
}

const OPENING = ['path', 'size', 'modificationTime'];
const VECTOR = ['storageType', 'pathOrInlineDv', 'offset'];

/** Finds the leaves of `add` in a checkpoint's schema; undefined where the file has no adds at all. */
export function addLeaves(root: SchemaNode): AddLeaves | undefined {
  const node = root.children.find((child) => child.name === 'add');
  const path = node?.children.find((child) => child.name === 'path')?.leaf;
  if (node === undefined || path === undefined) return undefined;
  const opening: Leaf[] = [];
  for (const child of node.children) {
    if (OPENING.includes(child.name) && child.leaf !== undefined) opening.push(child.leaf);
    if (child.name === 'deletionVector') {
      for (const member of child.children)
        if (VECTOR.includes(member.name) && member.leaf !== undefined) opening.push(member.leaf);
    }
    if (child.name === 'partitionValues' || child.name === 'partitionValues_parsed')
      opening.push(...leavesOf(child));
  }
  return { node, path, opening };
}

/** All leaves below a node. */
export function leavesOf(node: SchemaNode): Leaf[] {
  return node.leaf !== undefined ? [node.leaf] : node.children.flatMap(leavesOf);
}
