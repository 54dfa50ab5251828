package terminal

import "strings"

// CommandLine returns a command of this program with these words, quoted for a shell.
func CommandLine(words ...string) string {
	for i, w := range words {
		words[i] = Quote(w)
	}
	return "cardgateway " + strings.Join(words, " ")
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
