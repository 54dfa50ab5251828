// Package shell writes commands of this program that can be pasted into a shell.
package shell

import (
	"slices"
	"strings"
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

// Quote quotes a word for a POSIX shell.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:+,@=", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
