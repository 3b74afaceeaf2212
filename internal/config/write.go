package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// isEmpty reports whether n is a mapping or list without members.
func isEmpty(n *node) bool {
	return (n.kind == kindMapping || n.kind == kindList) && len(n.entries)+len(n.items) == 0
}

// writeYAML writes a mapping in block style.
func writeYAML(n *node) []byte {
	var b bytes.Buffer
	yamlBlock(&b, n, "")
	return b.Bytes()
}

// yamlBlock writes the members of n, one per line, behind indent.
func yamlBlock(b *bytes.Buffer, n *node, indent string) {
	for _, e := range n.entries {
		b.WriteString(indent + yamlText(e.key) + ":")
		switch {
		case isEmpty(e.value) || e.value.kind != kindMapping && e.value.kind != kindList:
			b.WriteString(" " + yamlInline(e.value) + "\n")
		case e.value.kind == kindList && len(e.value.items[0].entries) == 0:
			b.WriteString(" " + yamlInline(e.value) + "\n")
		default:
			b.WriteString("\n")
			yamlBlock(b, e.value, indent+"  ")
		}
	}
	for _, item := range n.items {
		var inner bytes.Buffer
		yamlBlock(&inner, item, indent+"  ")
		b.WriteString(indent + "- " + strings.TrimPrefix(inner.String(), indent+"  "))
	}
}

// yamlInline writes n within a line.
func yamlInline(n *node) string {
	switch n.kind {
	case kindMapping:
		return "{}"
	case kindList:
		items := make([]string, len(n.items))
		for i, item := range n.items {
			items[i] = quote(item.text)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case kindText:
		return yamlText(n.text)
	default:
		return n.text
	}
}

// bareText is a text that needs no quotes: a word, a path, a duration or a
// size, which no reader of YAML takes for anything but a text, unless it is a
// bareOther.
var (
	bareText  = regexp.MustCompile(`^([A-Za-z/][A-Za-z0-9_./-]*|([0-9]+(\.[0-9]+)?(h|m|s|ms))+|[0-9]+([KMG]i)?B)$`)
	bareOther = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
)

// yamlText writes a text, without quotes if it needs none.
func yamlText(text string) string {
	if bareText.MatchString(text) && !bareOther.MatchString(text) {
		return text
	}
	return quote(text)
}

// writeJSON writes n with one member per line.
func writeJSON(n *node) []byte {
	var b bytes.Buffer
	jsonValue(&b, n, "\n")
	b.WriteByte('\n')
	return b.Bytes()
}

// jsonValue writes n; newline begins a line at its depth.
func jsonValue(b *bytes.Buffer, n *node, newline string) {
	opening, closing := "{", "}"
	switch n.kind {
	case kindText:
		b.WriteString(quote(n.text))
		return
	case kindBool, kindNumber:
		b.WriteString(n.text)
		return
	case kindList:
		opening, closing = "[", "]"
	}
	b.WriteString(opening)
	separator := newline + "  "
	for _, e := range n.entries {
		b.WriteString(separator + quote(e.key) + ": ")
		jsonValue(b, e.value, newline+"  ")
		separator = "," + newline + "  "
	}
	for _, item := range n.items {
		b.WriteString(separator)
		jsonValue(b, item, newline+"  ")
		separator = "," + newline + "  "
	}
	if !isEmpty(n) {
		b.WriteString(newline)
	}
	b.WriteString(closing)
}

// quote writes a text so that JSON and YAML read the same from it. What one of
// them does not allow, or what cannot be seen, is escaped.
func quote(text string) string {
	b := []byte{'"'}
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c == 0xFEFF || c <= 0xFFFF && c >= 0x7F && !strconv.IsPrint(c):
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return string(append(b, '"'))
}
