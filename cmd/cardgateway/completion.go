package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
)

type shellCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown below the flags.
func (*shellCommand) Help() string {
	return `To load it at every start of the shell:
  bash  cardgateway completion bash >~/.local/share/bash-completion/completions/cardgateway
  zsh   cardgateway completion zsh >~/.zsh/_cardgateway, where ~/.zsh is in fpath before compinit
  fish  cardgateway completion fish >~/.config/fish/completions/cardgateway.fish`
}

// Run prints the completion script of a shell.
func (s *shellCommand) Run(c *call, ctx *kong.Context) error {
	write := map[string]func(io.Writer, []completed){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[s.Shell]
	var b strings.Builder
	write(&b, completions(ctx.Model.Node))
	if _, err := io.WriteString(c.out, b.String()); err != nil {
		return exit.CannotWrite("completion", err)
	}
	return nil
}

// completed is one command, or the program itself, and what can follow it.
type completed struct {
	path     string // such as "journal list"
	commands []candidate
	flags    []candidate // in the program itself: the global flags
}

// candidate is a word that can follow: a command, a value or a flag.
type candidate struct {
	name, help string
	takesValue bool
	values     []string // the allowed ones, if they are known
	isFile     bool
}

// completions returns a command and all its subcommands.
func completions(node *kong.Node) []completed {
	var at completed
	if node.Type != kong.ApplicationNode {
		at.path = node.Path()
	}
	var all []completed
	for _, child := range node.Children {
		at.commands = append(at.commands, candidate{name: child.Name, help: child.Help})
		all = append(all, completions(child)...)
	}
	for _, arg := range node.Positional {
		for _, value := range valuesOf(arg) {
			at.commands = append(at.commands, candidate{name: value})
		}
	}
	for _, flag := range node.Flags {
		at.flags = append(at.flags, candidate{
			name: "--" + flag.Name, help: flag.Help, takesValue: !flag.IsBool(), values: valuesOf(flag.Value),
			isFile: slices.Contains([]string{"FILE", "DATABASE"}, flag.PlaceHolder),
		})
	}
	return append([]completed{at}, all...)
}

// valuesOf returns the allowed values of a flag or an argument, if they are known.
func valuesOf(v *kong.Value) []string {
	return slices.DeleteFunc(v.EnumSlice(), func(value string) bool { return value == "" })
}

// wordsOf returns everything that can follow a command: its own words and the global flags.
func wordsOf(all []completed, i int) []candidate {
	words := slices.Concat(all[i].commands, all[i].flags)
	if i > 0 {
		words = append(words, all[0].flags...)
	}
	return words
}

// subcommands returns the patterns for a command after the path of its parent, such as 'journal list'.
func subcommands(all []completed, separator string) string {
	var patterns []string
	for _, at := range all[1:] {
		pattern := at.path
		if !strings.Contains(pattern, " ") {
			pattern = " " + pattern // the path of the program itself is empty
		}
		patterns = append(patterns, shell.Quote(pattern))
	}
	return strings.Join(patterns, separator)
}

// valueCases writes a case for each flag with a value. Words returns the shell code that offers words; files is the code that
// offers files.
func valueCases(w io.Writer, all []completed, words func([]string) string, files string) {
	for i, at := range all {
		for _, flag := range at.flags {
			pattern := shell.Quote(at.path + " " + flag.name)
			if i == 0 {
				pattern = "*" + pattern
			}
			switch {
			case len(flag.values) > 0:
				fmt.Fprintf(w, "\t%s) %s; return ;;\n", pattern, words(flag.values))
			case flag.isFile:
				fmt.Fprintf(w, "\t%s) %s; return ;;\n", pattern, files)
			case flag.takesValue:
				fmt.Fprintf(w, "\t%s) return ;;\n", pattern)
			}
		}
	}
}

func bashCompletion(w io.Writer, all []completed) {
	fmt.Fprintf(w, `# Completion of cardgateway for bash.
_cardgateway() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= word
	if [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	if [[ $cur == = ]]; then cur=; fi
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case "$at $word" in
		%s) at=${at:+$at }$word ;;
		esac
	done
	COMPREPLY=()
	case "$at $prev" in
`, subcommands(all, "|"))
	reply := func(words []string) string {
		return fmt.Sprintf(`mapfile -t COMPREPLY < <(compgen -W %s -- "$cur")`, shell.Quote(strings.Join(words, " ")))
	}
	valueCases(w, all, reply, `mapfile -t COMPREPLY < <(compgen -f -- "$cur")`)
	fmt.Fprint(w, "\tesac\n\tcase $at in\n")
	for i, at := range all {
		var names []string
		for _, word := range wordsOf(all, i) {
			names = append(names, word.name)
		}
		fmt.Fprintf(w, "\t%s) %s ;;\n", shell.Quote(at.path), reply(names))
	}
	fmt.Fprint(w, "\tesac\n}\ncomplete -o filenames -F _cardgateway cardgateway\n")
}

func zshCompletion(w io.Writer, all []completed) {
	fmt.Fprintf(w, `#compdef cardgateway
# Completion of cardgateway for zsh.
_cardgateway() {
	local at= word
	local -a list
	for word in ${words[2,CURRENT-1]}; do
		case "$at $word" in
		%s) at=${at:+$at }$word ;;
		esac
	done
	case "$at ${words[CURRENT-1]}" in
`, subcommands(all, "|"))
	valueCases(w, all, func(words []string) string { return "compadd -- " + strings.Join(words, " ") }, "_files")
	fmt.Fprint(w, "\tesac\n\tcase $at in\n")
	for i, at := range all {
		fmt.Fprintf(w, "\t%s) list=(", shell.Quote(at.path))
		for _, word := range wordsOf(all, i) {
			fmt.Fprintf(w, "\n\t\t%s", shell.Quote(word.name+":"+word.help))
		}
		fmt.Fprint(w, "\n\t) ;;\n")
	}
	fmt.Fprint(w, `	esac
	_describe cardgateway list
}
if [[ $funcstack[1] == _cardgateway ]]; then _cardgateway "$@"; else compdef _cardgateway cardgateway; fi
`)
}

func fishCompletion(w io.Writer, all []completed) {
	fmt.Fprintf(w, `# Completion of cardgateway for fish.
function __cardgateway_at
	set -l at ''
	for word in (commandline -opc)[2..]
		switch "$at $word"
		case %s
			set at (string trim -- "$at $word")
		end
	end
	test "$at" = "$argv[1]"
end
complete -c cardgateway -f
`, subcommands(all, " "))
	for i, at := range all {
		where := "-n " + shell.Quote(`__cardgateway_at "`+at.path+`"`)
		for _, word := range at.commands {
			fmt.Fprintf(w, "complete -c cardgateway %s -a %s -d %s\n", where, shell.Quote(word.name), fishText(word.help))
		}
		if i == 0 {
			where = "" // everywhere
		}
		for _, flag := range at.flags {
			fmt.Fprintf(w, "complete -c cardgateway %s -l %s -d %s", where, strings.TrimPrefix(flag.name, "--"), fishText(flag.help))
			switch {
			case len(flag.values) > 0:
				fmt.Fprintf(w, " -x -a %s", shell.Quote(strings.Join(flag.values, " ")))
			case flag.isFile:
				fmt.Fprint(w, " -r -F")
			case flag.takesValue:
				fmt.Fprint(w, " -x")
			}
			fmt.Fprintln(w)
		}
	}
}

// fishText quotes a text for fish.
func fishText(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
