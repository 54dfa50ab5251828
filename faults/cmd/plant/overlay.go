package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// edited returns the new text of every file that the edits change, by its path from the root.
func edited(root string, edits []edit) (map[string]string, error) {
	texts := make(map[string]string)
	for _, e := range edits {
		text, ok := texts[e.File]
		if !ok {
			data, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, err
			}
			text = string(data)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("%s has %d times, and not once: %q", e.File, n, e.Old)
		}
		texts[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return texts, nil
}

// overlay writes texts to dir, and returns the path of a file for go build -overlay, with which they take the place of the
// files of the repository, which stays as it is.
func overlay(root, dir string, texts map[string]string) (string, error) {
	replace := make(map[string]string, len(texts))
	for file, text := range texts {
		path := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = path
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}
