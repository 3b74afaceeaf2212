package terminal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/beckon-mcp/beckon/form"
)

// R93, R118: a file is read up to its limit, with its type; what is no file is not
// even opened.
func TestUpload(t *testing.T) {
	home := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	limit := int64(16)
	tests := []struct {
		name, path string
		allowed    []string
		wantType   string
		wantErr    string
	}{
		{"as large as can be", write("full.txt", bytes.Repeat([]byte("x"), 16)), nil, "text/plain", ""},
		{"too large", write("more.txt", bytes.Repeat([]byte("x"), 17)), nil, "", "more.txt has 17 bytes, and at most 16 bytes are taken"},
		{"empty", write("empty.txt", nil), nil, "text/plain", ""},
		{"from home", "~/full.txt", nil, "text/plain", ""},
		{"missing", filepath.Join(home, "nowhere"), nil, "", "nowhere cannot be read: no such file or directory"},
		{"a folder", home, nil, "", " is no file; give the path of a file"},
		{"a device", os.DevNull, nil, "", " is no file; give the path of a file"},
		{"JSON", write("a.json", []byte(`{"a": 1}`)), nil, "application/json", ""},
		{"YAML", write("a.YAML", []byte("a: 1\n")), nil, "application/yaml", ""},
		{"YAML as the form calls it", write("b.yml", []byte("a: 1\n")), []string{"application/json", "text/x-yaml"}, "text/x-yaml", ""},
		{"a picture", write("a.yaml.gif", []byte("GIF89a\x01\x00\x01\x00")), []string{"text/yaml"}, "image/gif", ""},
		{"a picture with another name", write("gif.yaml", []byte("GIF89a\x01\x00\x01\x00")), []string{"text/yaml"}, "image/gif", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &form.Field{ID: "f", Type: form.File, Rules: form.FieldRules{MaxSize: &limit, AllowedMimeTypes: tt.allowed}}
			raw, err := upload(f, Options{Environ: []string{"HOME=" + home}}.pathOf(" "+tt.path))
			if tt.wantErr != "" {
				if err == nil || !strings.HasSuffix(err.Error(), tt.wantErr) {
					t.Errorf("got %v, want %s", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got form.Upload
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.Replace(tt.path, "~", home, 1))
			if err != nil {
				t.Fatal(err)
			}
			if got.Filename != filepath.Base(tt.path) || got.ContentType != tt.wantType || got.Size != int64(len(want)) || !bytes.Equal(got.Content, want) {
				t.Errorf("got %s", raw)
			}
		})
	}
	if got := sizeLimit(&form.FieldRules{}); got != 10<<20 {
		t.Errorf("without a rule, %d bytes are taken", got)
	}
}
