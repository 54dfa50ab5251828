package terminal

import "strings"

// CommandLine writes a command that a shell reads back as these words.
func CommandLine(words ...string) string {
	for i, w := range words {
		words[i] = Quote(w)
	}
	return "cardgateway " + strings.Join(words, " ")
}

// Quote writes a word for a POSIX shell.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:+,@=", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
