package form

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// file writes the answer to a file field.
func file(name, kind string, content []byte) string {
	return fmt.Sprintf(`{"filename":%s,"content_type":%q,"size":%d,"content":"%s"}`, quoteJSON(name), kind, len(content), base64.StdEncoding.EncodeToString(content))
}

// referred writes the answer to a file field that only says where the file is.
func referred(kind, location string, size int) string {
	return fmt.Sprintf(`{"filename":"a.json","content_type":"application/json","size":%d,"content":{"type":%q,"location":%s}}`, size, kind, quoteJSON(location))
}

var program386 = append([]byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00\xb8"), make([]byte, 60)...)

// R93, R106
func TestReadFile(t *testing.T) {
	abc := file("a.txt", "text/plain", []byte("abc"))
	readAll(t, `"type":"file"`, []readTest{
		good(Coerce, abc, abc), good(Strict, abc, abc),
		good(Strict, `{"content":"YWI","size":2,"filename":"a","content_type":"TEXT/plain; charset=utf-8"}`, `{"filename":"a","content_type":"TEXT/plain; charset=utf-8","size":2,"content":"YWI="}`),
		good(Strict, `{"filename":"a","content_type":"x/y","size":3,"content":"\/\/\/\/"}`, `{"filename":"a","content_type":"x/y","size":3,"content":"////"}`),
		good(Strict, file("empty", "text/plain", nil), file("empty", "text/plain", nil)), good(Coerce, `null`, ``),
		bad(Coerce, `""`, CodeType, "type", "must be a file: an object with"), bad(Coerce, `"abc"`, CodeType, "type", ""), bad(Coerce, `[]`, CodeType, "type", ""),
		bad(Coerce, `{}`, CodeInvalidFile, "type", "needs a filename"), bad(Coerce, `{"filename":1}`, CodeInvalidFile, "type", "a text as its filename"),
		bad(Coerce, `{"filename":"a"}`, CodeInvalidFile, "type", "needs a content_type"), bad(Coerce, `{"filename":"a","content_type":"text"}`, CodeInvalidFile, "type", "content_type such as"),
		bad(Coerce, `{"filename":"a","content_type":"a b/c"}`, CodeInvalidFile, "type", "content_type"), bad(Coerce, `{"filename":"a","content_type":"a/b"}`, CodeInvalidFile, "type", "needs its size"),
		bad(Coerce, `{"filename":"a","content_type":"a/b","size":"3"}`, CodeInvalidFile, "type", "its size in bytes"), bad(Coerce, `{"filename":"a","content_type":"a/b","size":-1}`, CodeInvalidFile, "type", "its size"),
		bad(Coerce, `{"filename":"a","content_type":"a/b","size":1.5}`, CodeInvalidFile, "type", "its size"), bad(Coerce, `{"filename":"a","content_type":"a/b","size":99999999999999999999}`, CodeInvalidFile, "type", "its size"),
		bad(Coerce, `{"filename":"a","content_type":"a/b","size":3}`, CodeInvalidFile, "type", "needs its content"), bad(Coerce, `{"filename":"a","content_type":"a/b","size":3,"content":1}`, CodeInvalidFile, "type", "must have content in base64"),
		bad(Coerce, `{"filename":"a","content_type":"a/b","size":4,"content":"YWJj"}`, CodeInvalidFile, "type", "has 3 bytes, and says that it has 4"),
		bad(Coerce, `{"filename":"a","content_type":"a/b","size":3,"content":"YWJ!"}`, CodeInvalidFile, "type", "its content in base64"), bad(Coerce, `{"filename":"a","content_type":"a/b","size":3,"content":"YWJ\nj"}`, CodeInvalidFile, "type", "base64"),
		bad(Coerce, `{"filename":"a","content_type":"a/b","size":1,"content":"YR=="}`, CodeInvalidFile, "type", "base64"), bad(Coerce, `{"filename":"a","content_type":"a/b","size":1,"content":"YQ="}`, CodeInvalidFile, "type", "base64"),
		bad(Coerce, `{"filename":"a","content_type":"a/b","size":3,"content":"_-__"}`, CodeInvalidFile, "type", "base64"), bad(Coerce, `{"filename":"a","content_type":"a/b","size":3,"content":"YWJj","path":"/a"}`, CodeInvalidFile, "type", "has something else"),
	})
	for _, name := range []string{"../a", "/a", `a\b`, `C:\a`, "a/", "..", ".", "a\x00.txt", "a\n", "cod\u202etxt.exe", "\x7f", strings.Repeat("a", 256)} {
		readAll(t, `"type":"file"`, []readTest{bad(Strict, file(name, "text/plain", []byte("abc")), CodeInvalidFile, "type", "must have a filename")})
	}
	for _, name := range []string{"a", ".a", "a b.txt", "ä", "...", "a:b", strings.Repeat("a", 255)} {
		answer := file(name, "text/plain", []byte("abc"))
		readAll(t, `"type":"file"`, []readTest{good(Strict, answer, answer)})
	}
}

// R93, R118
func TestFileRules(t *testing.T) {
	js := []byte(`{"a":1}`)
	readAll(t, `"type":"file","validation":{"maxSize":7,"allowedMimeTypes":["application/json","image/*"],"allowedExtensions":[".json",".png"]}`, []readTest{
		good(Strict, file("a.json", "application/json", js), file("a.json", "application/json", js)), good(Strict, file("A.JSON", "Application/JSON;charset=utf-8", js), file("A.JSON", "Application/JSON;charset=utf-8", js)),
		bad(Strict, file("a.json", "application/json", []byte(`{"a":12}`)), CodeConstraint, "maxSize", "must have at most 7 bytes, and has 8"),
		bad(Strict, file("a.yaml", "application/json", js), CodeConstraint, "allowedExtensions", "with the extension .json or .png"), bad(Strict, file("json", "application/json", js), CodeConstraint, "allowedExtensions", ""),
		bad(Strict, file(".json", "application/json", js), CodeConstraint, "allowedExtensions", ""), bad(Strict, file("a.json.exe", "application/json", js), CodeConstraint, "allowedExtensions", ""),
		bad(Strict, file("a.json", "text/json", js), CodeConstraint, "allowedMimeTypes", "must be a file of type application/json or image/*"), bad(Strict, file("a.json", "imagex/png", js), CodeConstraint, "allowedMimeTypes", ""),
		bad(Strict, file("a.png", "image/png", js), CodeConstraint, "contentType", "must be of the type that it says, and looks like application/json"),
		good(Strict, referred("s3", "s3://bucket/a.json", 7), referred("s3", "s3://bucket/a.json", 7)), bad(Strict, referred("s3", "s3://bucket/a.json", 8), CodeConstraint, "maxSize", "and has 8"),
	})
	// The seed's limit is 10 MiB where a form names none.
	readAll(t, `"type":"file"`, []readTest{
		good(Strict, referred("local", "/a", 10<<20), referred("local", "/a", 10<<20)), bad(Strict, referred("local", "/a", 10<<20+1), CodeConstraint, "maxSize", ""),
		good(Strict, referred("url", "https://example.org/a.json", 1), referred("url", "https://example.org/a.json", 1)),
		bad(Strict, referred("url", "http://example.org/a.json", 1), CodeConstraint, "allowedSchemes", "begins with https:"), bad(Strict, referred("url", "https://10.0.0.1/", 1), CodeConstraint, "blockPrivateIPs", ""),
		bad(Strict, referred("url", "https://localhost/", 1), CodeConstraint, "blockLocalhost", ""), bad(Strict, referred("url", "a.json", 1), CodeInvalidFile, "type", "must be at an absolute URL"),
		bad(Strict, referred("ftp", "a", 1), CodeInvalidFile, "type", "at a url, in s3, or local"), bad(Strict, referred("s3", "", 1), CodeInvalidFile, "type", "needs the location"),
		bad(Strict, referred("s3", "a\x00", 1), CodeInvalidFile, "type", "location"), bad(Strict, referred("s3", strings.Repeat("a", 2049), 1), CodeInvalidFile, "type", "location"),
		bad(Strict, `{"filename":"a","content_type":"a/b","size":1,"content":{}}`, CodeInvalidFile, "type", ""), bad(Strict, `{"filename":"a","content_type":"a/b","size":1,"content":{"type":"s3","location":"a","x":1}}`, CodeInvalidFile, "type", "something else"),
	})
}

// R118: a file is what it says it is.
func TestAgrees(t *testing.T) {
	png := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01")
	zip := append([]byte("PK\x03\x04\x14\x00\x00\x00\x00\x00"), make([]byte, 40)...)
	for _, tt := range []struct {
		declared string
		content  string
		want     bool
	}{
		{"application/json", `{"a": 1}`, true}, {"application/json", `[1, 2]`, true}, {"application/json", `{"a": 1`, true}, {"application/json", `"a"`, true},
		{"application/json", string(program386), false}, {"application/json", string(png), false}, {"application/json", string(zip), false}, {"application/json", "<html><body></body></html>", false},
		{"application/json", "#!/bin/sh\nrm -rf /\n", false}, {"application/json", "\x00\x01\x02\x03", false}, {"application/json", `{"a": "` + strings.Repeat("x", 5000) + `"}`, true},
		{"text/yaml", "a: 1\nb:\n  - c\n", true}, {"application/x-yaml", "a: 1\n", true}, {"application/yaml", "a, b: 1\nc, d: 2\n", true}, {"text/yaml", `{"a": 1}`, true},
		{"text/yaml", string(program386), false}, {"text/yaml", string(png), false}, {"text/yaml", "<html><body></body></html>", false}, {"text/yaml", "\x00\x01\x02\x03", false},
		{"text/csv", "a\n1\n2\n", true}, {"text/csv", "a,b\n1,2\n", true}, {"text/csv", "a\tb\n1\t2\n", true}, {"text/csv", string(program386), false},
		{"text/plain", "abc", true}, {"text/plain", `{"a": 1}`, true}, {"text/plain", "a,b\n1,2\n", true}, {"text/plain", string(png), false}, {"text/plain", string(program386), false},
		{"text/markdown", "# A\n", true}, {"text/markdown", "<!DOCTYPE html><p>A", true}, {"text/markdown", string(png), false},
		{"application/vnd.api+json", `{"a": 1}`, true}, {"application/vnd.api+json", string(png), false}, {"application/x.y+xml", `<?xml version="1.0"?><a/>`, true}, {"application/toml", "a = 1\n", true},
		{"image/png", string(png), true}, {"image/jpeg", string(png), false}, {"image/png", "abc", false}, {"image/x-new", "abc", false}, {"image/png", "\x00\x01\x02\x03", false},
		{"application/zip", string(zip), true}, {"application/octet-stream", string(program386), true}, {"application/octet-stream", "abc", true}, {"application/x-own", "\x00\x01\x02\x03", true}, {"application/x-own", string(program386), false},
		{"application/x-own+zip", string(zip), true}, {"text/xml", `<?xml version="1.0"?><a/>`, true}, {"application/xml", `<?xml version="1.0"?><a/>`, true}, {"text/plain", "", true}, {"image/png", "", true},
	} {
		if found, got := agrees(tt.declared, []byte(tt.content)); got != tt.want {
			t.Errorf("%s: %.20q looks like %s: %v, want %v", tt.declared, tt.content, found, got, tt.want)
		}
	}
}

// A file reads the same from the record of it as from the answer.
func TestUploadMarshals(t *testing.T) {
	f := parseFields(t, `"id":"f","type":"file","label":"F"`)
	for _, answer := range []string{file("a.txt", "text/plain", []byte("abc")), file("b", "text/plain", nil), referred("s3", "s3://a/b", 9)} {
		v, err := f.Read([]byte(`{"f":`+answer+`}`), Strict)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v.Get("f").File())
		if err != nil || !bytes.Equal(text, []byte(answer)) {
			t.Errorf("%s became %s, %v", answer, text, err)
		}
	}
}
