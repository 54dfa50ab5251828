// Package shell writes commands of this program that can be pasted into a shell.
package shell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// CommandLine returns a command of this program with these words, quoted for a shell.
func CommandLine(words ...string) string {
	for i, w := range words {
		words[i] = Quote(w)
	}
	return "cardgateway " + strings.Join(words, " ")
}

// CommandFor returns a command of this program for ids, with flags. An id that begins with a hyphen must not be read as a flag.
func CommandFor(command string, ids []string, flags ...string) string {
	words := strings.Fields(command)
	if slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, "-") }) {
		return CommandLine(slices.Concat(words, flags, []string{"--"}, ids)...)
	}
	return CommandLine(slices.Concat(words, ids, flags)...)
}

// Quote quotes a word for a POSIX shell; one with characters that a terminal would obey, for bash, zsh and others that know $'…'.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:+,@=", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	if terminal.Clean(word) != word { // it would be printed escaped, and then name something else
		var b strings.Builder
		for i := range len(word) {
			if c := word[i]; c < ' ' || c > '~' || c == '\'' || c == '\\' {
				fmt.Fprintf(&b, `\%03o`, c)
			} else {
				b.WriteByte(c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
