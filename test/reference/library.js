import { decompress as unzstd } from 'fzstd';

/** What the reference cases need of the library, from the built modules at `root`. */
export async function loadLibrary(root) {
  const load = (path) => import(new URL(path, root).href);
  const [canonical, history, changes, plan, read, system, snapshot, store] = await Promise.all(
    [
      'cli/canonical.js',
      'log/history.js',
      'scan/changes.js',
      'scan/plan.js',
      'scan/read.js',
      'runtime/system.js',
      'snapshot/load.js',
      'store/open.js',
    ].map(load),
  );
  return { ...canonical, ...history, ...changes, ...plan, ...read, ...system, ...snapshot, ...store, unzstd };
}
