// Adds up the reports of all suites: `node count.js FAILED_STEPS REPORT...`. Prints each failed test, and one line that counts; exits with 1 when anything failed.
import { readFileSync } from 'node:fs';

const [steps, ...files] = process.argv.slice(2);
const total = { passed: 0, failed: Number(steps), skipped: 0 };
for (const file of files) {
  if (file.endsWith('.txt')) {
    countGroups(readFileSync(file, 'utf8'));
    continue;
  }
  let report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    console.log(`no report in ${file}: ${error.message}`);
    continue;
  }
  total.passed += report.numPassedTests;
  total.failed += report.numFailedTests;
  total.skipped += (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0);
  for (const suite of report.testResults ?? []) {
    const failed = suite.assertionResults.filter((test) => test.status === 'failed');
    for (const test of failed) console.log(`FAILED ${suite.name}: ${test.fullName}`);
    if (suite.status === 'failed' && failed.length === 0) {
      // A file that does not load, or whose hooks fail, has no failed test of its own.
      console.log(`FAILED ${suite.name}: ${suite.message}`);
      total.failed++;
    }
  }
}
/** A line a group: `ok   name: 3 of 3`, `FAIL name: 2 of 3`. */
function countGroups(text) {
  let groups = 0;
  for (const [, passed, cases] of text.matchAll(/^(?:ok {2}|FAIL) .+: (\d+) of (\d+)$/gm)) {
    groups++;
    total.passed += Number(passed);
    total.failed += Number(cases) - Number(passed);
  }
  if (groups === 0) total.failed++;
}

const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : 0;
