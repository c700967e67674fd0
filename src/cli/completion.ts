import { Argument, type Command } from 'commander';
import type { Register } from './program.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** One option as completion offers it. */
interface Offer {
  readonly flag: string;
  readonly text: string;
  readonly choices: readonly string[];
}

export const registerCompletion: Register = (program, cli) => {
  program
    .command('completion')
    .description('Print a completion script for a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  source <(tablectl completion bash)
  tablectl completion zsh > "\${fpath[1]}/_tablectl"
  tablectl completion fish > ~/.config/fish/completions/tablectl.fish`,
    )
    .action((shell: Shell) =>
      cli.run({}, async (session) => {
        await session.print(completionScript(shell, program));
        return undefined;
      }),
    );
};

/** The script of a shell, made from the commands themselves. */
export function completionScript(shell: Shell, program: Command): string {
  const commands = program.commands.map((command) => ({
    name: command.name(),
    text: firstLine(command.description()),
    offers: offersOf(command),
  }));
  return { bash, zsh, fish }[shell](commands);
}

type Offered = { readonly name: string; readonly text: string; readonly offers: readonly Offer[] };

function offersOf(command: Command): Offer[] {
  const own = command.options.flatMap((option) =>
    option.long
      ? [{ flag: option.long, text: firstLine(option.description), choices: option.argChoices ?? [] }]
      : [],
  );
  return [...own, { flag: '--help', text: 'show the options and examples', choices: [] }];
}

function bash(commands: readonly Offered[]): string {
  const withOptions = commands.filter(({ name }) => name !== 'completion');
  const cases = withOptions.map(
    ({ name, offers }) => `    ${name}) words='${offers.map(({ flag }) => flag).join(' ')}' ;;`,
  );
  const choices = choicesOf(commands).map(
    ([flag, values]) => `    ${flag}) COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$word")); return ;;`,
  );
  return `# bash completion for tablectl
_tablectl() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --version --help' -- "$word"))
    return
  fi
  case "$before" in
${choices.join('\n')}
  esac
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    completion) words='${SHELLS.join(' ')}' ;;
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) [ "\${COMP_WORDS[1]}" = completion ] && COMPREPLY=($(compgen -W "$words" -- "$word")) || COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _tablectl tablectl
`;
}

function zsh(commands: readonly Offered[]): string {
  const names = commands.map(({ name, text }) => `    '${name}:${quoted(text)}'`);
  const cases = commands.map(({ name, offers }) => {
    const options = offers.map(({ flag, text, choices }) => {
      const values = choices.length > 0 ? `:value:(${choices.join(' ')})` : '';
      return `        '${flag}[${quoted(text).replaceAll('[', '(').replaceAll(']', ')')}]${values}'`;
    });
    const rest = name === 'completion' ? `'1:shell:(${SHELLS.join(' ')})'` : "'*:file:_files'";
    return `    ${name})\n      _arguments \\\n${options.join(' \\\n')} \\\n        ${rest}\n      ;;`;
  });
  return `#compdef tablectl
_tablectl() {
  local -a commands
  commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${cases.join('\n')}
  esac
}
compdef _tablectl tablectl
`;
}

function fish(commands: readonly Offered[]): string {
  const lines = commands.flatMap(({ name, text, offers }) => [
    `complete -c tablectl -f -n __fish_use_subcommand -a ${name} -d '${quoted(text)}'`,
    ...offers.map(({ flag, text: help, choices }) => {
      const values = choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : '';
      return `complete -c tablectl -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)} -d '${quoted(help)}'${values}`;
    }),
  ]);
  return `# fish completion for tablectl
${lines.join('\n')}
complete -c tablectl -f -n '__fish_seen_subcommand_from completion' -a '${SHELLS.join(' ')}'
`;
}

function choicesOf(commands: readonly Offered[]): [flag: string, values: string[]][] {
  const found = new Map<string, Set<string>>();
  for (const { offers } of commands) {
    for (const { flag, choices } of offers) {
      if (choices.length === 0) continue;
      found.set(flag, new Set([...(found.get(flag) ?? []), ...choices]));
    }
  }
  return [...found].map(([flag, values]) => [flag, [...values]]);
}

function firstLine(text: string): string {
  return text.split('\n')[0]!;
}

function quoted(text: string): string {
  return text.replaceAll("'", '').replaceAll(':', '\\:').replaceAll('`', '');
}
