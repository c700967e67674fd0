#!/usr/bin/env node
const argv = process.argv.slice(2);
if (argv.length === 1 && argv[0] === '--version') {
  const { VERSION } = await import('../dist/version.js');
  process.stdout.write(`${VERSION}\n`);
} else {
  const { main } = await import('../dist/cli/main.js');
  process.exitCode = await main(argv);
  // Whatever still waits for an answer is not waited for.
  if (process.exitCode === 130) process.exit();
}
