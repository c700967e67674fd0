import type { Action } from '../log/actions.js';
import { abortError } from '../runtime/system.js';
import type { TableContext } from '../runtime/table-context.js';
import type { State } from '../snapshot/state.js';
import {
  type CommitPlan,
  type Planned,
  type TransactionOptions,
  type TransactionResult,
  transactInTurn,
} from './transaction.js';

/** One that waits for its commit, with whom to tell. */
export interface Member {
  readonly options: TransactionOptions;
  plan(state: State): Promise<Planned<unknown>>;
  resolve(result: TransactionResult<unknown>): void;
  reject(error: unknown): void;
}

interface Included {
  readonly member: Member;
  readonly plan: CommitPlan;
  readonly result: unknown;
}

/** A commit takes no more members than this, so that none waits for an endless one. */
const MOST_MEMBERS = 1_000;

/**
 * Commits what `plan` decides like `transact`, together with others of this process that wait for the same table and only add to it: one version holds what
 * all of them add. Each has its own result and its own failure; a signal that fires takes out its own alone, unless the put is under way. Those whose
 * `userMetadata`, `retryFor`, facts or tokens do not go together get commits of their own, one after the other. Errors as `transact`.
 */
export function transactTogether<T>(
  table: TableContext,
  plan: (state: State) => Promise<Planned<T>>,
  options: TransactionOptions,
): Promise<TransactionResult<T>> {
  return new Promise((resolve, reject) => {
    const member: Member = {
      options,
      plan,
      resolve: (result) => resolve(result as TransactionResult<T>),
      reject,
    };
    table.appends.join(member, (members) => serve(table, members));
  });
}

async function serve(table: TableContext, members: readonly Member[]): Promise<void> {
  let left = [...members];
  while (left.length > 0) {
    const [{ options }] = left as [Member];
    const fits: Member[] = [];
    const others: Member[] = [];
    for (const member of left) {
      const { userMetadata, retryFor } = member.options;
      const isLike = userMetadata === options.userMetadata && retryFor === options.retryFor;
      (isLike && fits.length < MOST_MEMBERS ? fits : others).push(member);
    }
    left = [...(await commitOne(table, fits)), ...others];
  }
}

/** One commit of as many members as go together; gives those that have to wait for the next. */
async function commitOne(table: TableContext, members: readonly Member[]): Promise<Member[]> {
  let open = [...members];
  let included: Included[] = [];
  let later: Member[] = [];
  const decide = async (state: State): Promise<Planned<undefined>> => {
    included = [];
    later = [];
    const taken = new Set<string>();
    const stillOpen: Member[] = [];
    for (const member of open) {
      const planned = await planOf(member, state);
      if (planned === undefined) continue;
      if ('stale' in planned) return planned;
      stillOpen.push(member);
      const ids = appIds(planned.plan.actions);
      // A commit says one version of an application, and its facts are those of one write.
      const hasFacts = planned.plan.facts !== undefined || included[0]?.plan.facts !== undefined;
      const goesAlong = included.length === 0 || (!hasFacts && ids.every((id) => !taken.has(id)));
      if (goesAlong) {
        included.push({ member, ...planned });
        for (const id of ids) taken.add(id);
      } else later.push(member);
    }
    open = stillOpen;
    return included.length === 0
      ? { settled: undefined }
      : { plan: merged(included.map(({ plan }) => plan)), result: undefined };
  };
  const [{ options }] = members as readonly [Member];
  const { signal, ...shared } = options;
  try {
    // The signal of one may interrupt nobody else.
    const { version, attempts } = await transactInTurn(
      table,
      decide,
      members.length === 1 ? options : shared,
    );
    for (const { member, result } of included) member.resolve({ committed: true, version, attempts, result });
    return later;
  } catch (error) {
    const tried = included.length > 0 ? included.map(({ member }) => member) : open;
    for (const member of tried) member.reject(error);
    return open.filter((member) => !tried.includes(member));
  }
}

/** Undefined where the member's story has ended: it needs no commit, is refused, or was aborted. */
async function planOf(
  member: Member,
  state: State,
): Promise<Exclude<Planned<unknown>, { readonly settled: unknown }> | undefined> {
  try {
    const { signal } = member.options;
    if (signal?.aborted) throw abortError(signal);
    const planned = await member.plan(state);
    if (!('settled' in planned)) return planned;
    member.resolve({ committed: false, version: state.version, attempts: 0, result: planned.settled });
  } catch (error) {
    member.reject(error);
  }
  return undefined;
}

function appIds(actions: readonly Action[]): string[] {
  return actions.flatMap((action) => ('txn' in action ? [action.txn.appId] : []));
}

function merged(plans: readonly CommitPlan[]): CommitPlan {
  const [first] = plans as readonly [CommitPlan];
  const metrics: Record<string, number> = {};
  for (const plan of plans) {
    for (const [name, value] of Object.entries(plan.metrics)) metrics[name] = (metrics[name] ?? 0) + value;
  }
  return {
    ...first,
    metrics,
    isBlindAppend: plans.every(({ isBlindAppend }) => isBlindAppend),
    actions: plans.flatMap(({ actions }) => actions),
  };
}
