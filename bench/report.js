// @ts-check
import { readFileSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';
import { newOurs, newPeer } from './process.js';

const DEPENDENCIES = ['apache-arrow', 'parquet-wasm', 'hyparquet', '@aws-sdk/client-s3', 'parquetjs-lite'];

/** What the figures were made by and on. */
export async function versionsOf() {
  const [ours, peer] = [newOurs(), newPeer()];
  const found = { ...(await ours.ask('versions')), ...(await peer.ask('versions')) };
  await Promise.all([ours.stop(), peer.stop()]);
  for (const name of DEPENDENCIES) {
    const file = new URL(`../node_modules/${name}/package.json`, import.meta.url);
    found[name] = JSON.parse(readFileSync(file, 'utf8')).version;
  }
  return {
    versions: found,
    machine: {
      platform: `${platform()} ${arch()}`,
      cores: cpus().length,
      cpu: cpus()[0]?.model,
      memoryMb: Math.round(totalmem() / 2 ** 20),
    },
  };
}

/** @param {import('./measure.js').ResultRow[]} rows */
export function printRows(rows) {
  const cells = rows.map((row) => [
    row.name,
    row.what,
    amount(row.ours, row.unit),
    row.peer === undefined ? '' : amount(row.peer, row.unit),
    row.ratio === undefined ? '' : row.ratio.toFixed(2),
    goal(row.must),
    goal(row.aim),
    verdict(row),
  ]);
  const table = [['name', 'what', 'ours', 'peer', 'ratio', 'must', 'aim', 'reached'], ...cells];
  const widths = table[0].map((_, i) => Math.max(...table.map((line) => line[i].length)));
  for (const line of table) {
    const padded = line.map((cell, i) =>
      i < 2 || i === 7 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]),
    );
    console.log(padded.join('  ').trimEnd());
  }
}

/** Whether the goals were reached. Rows without a peer compare their own figure. @param {import('./measure.js').ResultRow} row */
function verdict(row) {
  if (row.must === undefined) return '';
  const figure = row.ratio ?? row.ours;
  const reaches = (/** @type {number | undefined} */ limit) =>
    limit !== undefined && (row.better === 'less' ? figure <= limit : figure >= limit);
  if (reaches(row.aim)) return 'aim';
  return reaches(row.must) ? 'must' : 'NO';
}

/** @param {number} value @param {string} unit */
function amount(value, unit) {
  const text = value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3);
  return unit === 'requests' || unit === '' ? text : `${text} ${unit}`;
}

/** @param {number | undefined} limit */
function goal(limit) {
  return limit === undefined ? '' : String(limit);
}
