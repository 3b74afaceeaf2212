package form

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFilename is how long the name of a file may be, in bytes, as most file systems
// have it; and maxLocation where one is.
const (
	maxFilename = 255
	maxLocation = 2048
)

// upload reads the answer to a file field: an object with the members of [Upload].
func (r *submission) upload(p *plan, s span) (Value, *Error) {
	if r.raw[s.from] != '{' {
		return Value{}, p.mistyped(r.raw[s.from:s.to], "object", "a file: an object with filename, content_type, size and content")
	}
	u := &Upload{Size: -1}
	var content span
	var e *Error
	c := cursor{b: r.raw[:s.to], at: s.from}
	for c.enter(); c.more() && e == nil; {
		name, value := c.member()
		switch member := r.text(name); member {
		case "filename":
			u.Filename, e = r.part(p, member, value)
		case "content_type":
			u.ContentType, e = r.part(p, member, value)
		case "size":
			n, err := strconv.ParseInt(string(r.raw[value.from:value.to]), 10, 64)
			if u.Size = n; err != nil || n < 0 {
				e = p.badFile("must say its size in bytes, as a whole number")
			}
		case "content":
			content = value
		default:
			e = p.badFile("can have filename, content_type, size and content, and has something else")
		}
	}
	if e == nil {
		e = p.checkUpload(u)
	}
	if e == nil {
		e = r.content(p, u, content)
	}
	if e != nil {
		return Value{}, e
	}
	return Value{kind: FileKind, file: u}, nil
}

// part reads a text that is a member of a file.
func (r *submission) part(p *plan, member string, s span) (string, *Error) {
	if r.raw[s.from] != '"' {
		return "", p.badFile("must have a text as its %s", member)
	}
	return r.text(s), nil
}

// badFile makes the error of a file that cannot be read.
func (p *plan) badFile(message string, args ...any) *Error {
	return p.fail(CodeInvalidFile, "type", "file", nil, message, args...)
}

// checkUpload looks at what is said of the file.
func (p *plan) checkUpload(u *Upload) *Error {
	switch {
	case u.Filename == "":
		return p.badFile("needs a filename")
	case len(u.Filename) > maxFilename:
		return p.badFile("must have a filename of at most %d bytes", maxFilename)
	case u.Filename == "." || u.Filename == ".." || strings.ContainsFunc(u.Filename, notInFilename):
		return p.badFile("must have a filename without a path, and without characters that cannot be seen")
	case !isMediaType(u.ContentType):
		return p.badFile("needs a content_type such as application/json")
	case u.Size < 0:
		return p.badFile("needs its size")
	}
	return nil
}

// notInFilename reports whether r leads out of a folder, or hides what a name ends in.
func notInFilename(r rune) bool {
	if r < 0x80 {
		return r < ' ' || r == 0x7f || r == '/' || r == '\\'
	}
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// isMediaType reports whether s is type/subtype, perhaps with parameters.
//
// "media-type = type "/" subtype parameters"
// https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1
func isMediaType(s string) bool {
	base, _, _ := strings.Cut(s, ";")
	kind, sub, ok := strings.Cut(strings.TrimRight(base, " \t"), "/")
	return ok && len(s) <= 255 && isToken(kind) && isToken(sub)
}

func isToken(s string) bool {
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && strings.IndexByte("!#$%&'*+-.^_`|~", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// content reads the content of a file, or where it is.
func (r *submission) content(p *plan, u *Upload, s span) *Error {
	if s.to == 0 {
		return p.badFile("needs its content")
	}
	switch r.raw[s.from] {
	case '"':
		text := r.raw[s.from+1 : s.to-1]
		if bytes.IndexByte(text, '\\') >= 0 {
			text = []byte(r.text(s))
		}
		var ok bool
		if u.Content, ok = decodeBase64(text); !ok {
			return p.badFile("must have its content in base64")
		}
		if int64(len(u.Content)) != u.Size {
			return p.badFile("has %d bytes, and says that it has %d", len(u.Content), u.Size)
		}
		return nil
	case '{':
		u.Reference = new(Reference)
		return r.reference(p, u.Reference, s)
	}
	return p.badFile("must have content in base64, or an object with type and location")
}

// decodeBase64 decodes the standard alphabet, with or without padding, but without
// the line breaks that mail has.
func decodeBase64(text []byte) ([]byte, bool) {
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 {
		return nil, false
	}
	encoding := base64.RawStdEncoding
	if bytes.HasSuffix(text, []byte("=")) {
		encoding = base64.StdEncoding
	}
	content := make([]byte, encoding.DecodedLen(len(text)))
	n, err := encoding.Strict().Decode(content, text)
	return content[:n], err == nil
}

// reference reads where the content of a file is.
func (r *submission) reference(p *plan, ref *Reference, s span) *Error {
	c := cursor{b: r.raw[:s.to], at: s.from}
	for c.enter(); c.more(); {
		name, value := c.member()
		var e *Error
		switch member := r.text(name); member {
		case "type":
			ref.Type, e = r.part(p, member, value)
		case "location":
			ref.Location, e = r.part(p, member, value)
		default:
			e = p.badFile("can have type and location as its content, and has something else")
		}
		if e != nil {
			return e
		}
	}
	switch ref.Type {
	case "url", "s3", "local":
	default:
		return p.badFile("must have its content at a url, in s3, or local")
	}
	if ref.Location == "" || len(ref.Location) > maxLocation || strings.ContainsFunc(ref.Location, unicode.IsControl) {
		return p.badFile("needs the location of its content, of at most %d bytes", maxLocation)
	}
	return nil
}

// constrainFile looks at a file that could be read. What is only referred to is not
// fetched: of it, size and type are what is said.
func (p *plan) constrainFile(u *Upload) *Error {
	r := &p.Rules
	if u.Size > p.maxSize {
		return p.unmet("maxSize", p.maxSize, u.Size, "must have at most %s, and has %d", counted(int(p.maxSize), "byte"), u.Size)
	}
	if len(r.AllowedExtensions) > 0 && !hasExtension(u.Filename, r.AllowedExtensions) {
		return p.unmet("allowedExtensions", r.AllowedExtensions, p.shown(u.Filename), "must be a file with the extension %s", strings.Join(r.AllowedExtensions, " or "))
	}
	if len(r.AllowedMimeTypes) > 0 && !allowsType(r.AllowedMimeTypes, u.ContentType) {
		return p.unmet("allowedMimeTypes", r.AllowedMimeTypes, p.shown(u.ContentType), "must be a file of type %s", strings.Join(r.AllowedMimeTypes, " or "))
	}
	if u.Reference != nil {
		if u.Reference.Type == "url" {
			return p.constrainReference(u.Reference.Location)
		}
		return nil
	}
	if found, ok := agrees(u.ContentType, u.Content); !ok {
		return p.unmet("contentType", p.shown(baseType(u.ContentType)), p.shown(found), "must be of the type that it says%s", p.and("looks like %s", found))
	}
	return nil
}

// constrainReference looks at the URL of a file as at that of a url field.
func (p *plan) constrainReference(location string) *Error {
	u, why := parseURL(location)
	switch {
	case u == nil:
		return p.badFile("must be at %s", why)
	case u.Scheme != "https":
		return p.unmet("allowedSchemes", p.schemes, p.shown(u.Scheme), "must be at a URL that begins with https:")
	}
	return p.constrainHost(u)
}

func hasExtension(filename string, extensions []string) bool {
	for _, x := range extensions {
		if n := len(filename) - len(x); n > 0 && strings.EqualFold(filename[n:], x) {
			return true
		}
	}
	return false
}

// allowsType reports whether a declared type is in a list, which may have all of a
// kind: image/*.
func allowsType(allowed []string, declared string) bool {
	declared = baseType(declared)
	kind := declared[:strings.IndexByte(declared, '/')+1]
	for _, a := range allowed {
		if strings.EqualFold(a, declared) || a == "*/*" {
			return true
		}
		if of, ok := strings.CutSuffix(a, "*"); ok && strings.EqualFold(of, kind) {
			return true
		}
	}
	return false
}

// baseType is a media type without its parameters.
func baseType(s string) string {
	s, _, _ = strings.Cut(s, ";")
	return strings.ToLower(strings.TrimRight(s, " \t"))
}
