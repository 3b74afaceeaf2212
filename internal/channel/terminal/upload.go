package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/beckon-mcp/beckon/form"
)

// defaultSize is how large a file may be when its field does not say.
const defaultSize = 10 << 20

func sizeLimit(r *form.FieldRules) int64 {
	if r.MaxSize != nil {
		return *r.MaxSize
	}
	return defaultSize
}

// upload reads the file at path as the answer to f. It reads no more than the field
// takes, and nothing that is no regular file: a pipe would wait for ever.
func upload(f *form.Field, path string) (json.RawMessage, error) {
	content, err := content(path, sizeLimit(&f.Rules))
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	raw, err := json.Marshal(form.Upload{
		Filename:    name,
		ContentType: typeOf(name, content, f.Rules.AllowedMimeTypes),
		Size:        int64(len(content)),
		Content:     content,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the file: %w", err)
	}
	return raw, nil
}

// pathOf is the path that somebody typed, who may begin it with ~/ as in a shell.
func (o Options) pathOf(typed string) string {
	path := strings.TrimSpace(typed)
	if rest, ok := strings.CutPrefix(path, "~/"); ok && o.variable("HOME") != "" {
		return filepath.Join(o.variable("HOME"), rest)
	}
	return path
}

func content(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file; give the path of a file", line(path))
	}
	if info.Size() > most {
		return nil, tooLarge(path, info.Size(), most)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if int64(len(data)) > most { // it has grown since
		return nil, tooLarge(path, int64(len(data)), most)
	}
	return data, nil
}

func tooLarge(path string, size, most int64) error {
	return fmt.Errorf("%s has %s, and at most %s are taken", line(path), bytesOf(size), bytesOf(most))
}

// unreadable says why there is no content, without the names of system calls.
func unreadable(path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("%s cannot be read: %w", line(path), err)
}

// typeOf is the media type of a file. What only the name tells, such as that a text is
// YAML, is taken from the name; of several names for one type, the form's.
func typeOf(name string, content []byte, allowed []string) string {
	found, _, _ := strings.Cut(mimetype.Detect(content).String(), ";")
	if strings.HasPrefix(found, "text/plain") {
		if named, ok := textTypes()[strings.ToLower(filepath.Ext(name))]; ok {
			found = named
		}
	}
	if slices.Contains(allowed, found) {
		return found
	}
	for _, a := range allowed {
		if kind(a) == kind(found) {
			return a
		}
	}
	return found
}

// kind is what text/yaml, application/yaml and application/x-yaml have in common.
func kind(mediaType string) string {
	_, sub, _ := strings.Cut(strings.ToLower(mediaType), "/")
	return strings.TrimPrefix(sub, "x-")
}

// textTypes are the types of texts that do not show in their content.
func textTypes() map[string]string {
	return map[string]string{
		".css":  "text/css",
		".csv":  "text/csv",
		".html": "text/html",
		".ini":  "text/x-ini",
		".js":   "text/javascript",
		".json": "application/json",
		".md":   "text/markdown",
		".toml": "application/toml",
		".tsv":  "text/tab-separated-values",
		".xml":  "application/xml",
		".yaml": "application/yaml",
		".yml":  "application/yaml",
	}
}
