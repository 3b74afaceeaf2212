package config

import (
	"regexp"
	"strings"
)

// variableName is how variables are called that can be referred to.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// editorNames are the names that VS Code, Cursor and Windsurf define, which in
// their files are not variables of the environment.
const editorNames = " cwd file pathSeparator userHome workspaceFolder workspaceFolderBasename "

// expand gives the text of a single value, with ${NAME} and ${NAME:-default}
// replaced, and reports whether there was any. $${ stands for ${ itself. Only
// texts are expanded, and after the source has been read, so a variable's
// value can't add keys. The error is a [complaint].
func (r *reader) expand(n *node) (text string, referred bool, err error) {
	if n.kind != kindText {
		return n.text, false, nil
	}
	var b strings.Builder
	for rest := n.text; rest != ""; {
		i := strings.Index(rest, "${")
		if i < 0 {
			b.WriteString(rest)
			break
		}
		if i > 0 && rest[i-1] == '$' {
			b.WriteString(rest[:i-1] + "${")
			rest = rest[i+2:]
			continue
		}
		b.WriteString(rest[:i])
		inner, after, closed := strings.Cut(rest[i+2:], "}")
		if !closed {
			return "", true, complain("close it with }, or write $${ for ${ itself", "a ${ that does not end")
		}
		value, err := r.resolve(inner)
		if err != nil {
			return "", true, err
		}
		referred = true
		b.WriteString(value)
		rest = after
	}
	if r.keepReferences {
		return n.text, referred, nil
	}
	return b.String(), referred, nil
}

// resolve gives the value of what stands between ${ and }.
func (r *reader) resolve(inner string) (string, error) {
	name, def, hasDefault := strings.Cut(inner, ":-")
	switch {
	case !variableName.MatchString(name), r.backendsKey != "backends" && strings.Contains(editorNames, " "+name+" "):
		return "", foreignReference(inner)
	case strings.Contains(def, "${"):
		return "", complain("", "a ${ in the default of ${%s}; defaults are plain text", name)
	}
	r.referred[name] = true
	if r.keepReferences {
		return "", nil
	}
	value, set := r.lookup(name)
	switch {
	case hasDefault && value == "":
		return def, nil
	case !set:
		return "", complain("set it, or give a default: ${"+name+":-default}", "the variable %s is not set", name)
	}
	if checkCharacters(value) != nil {
		return "", complain("", "the variable %s holds control characters or is not UTF-8", name)
	}
	return value, nil
}

// foreignReference says what to do about a reference in the manner of an
// editor, which Beckon cannot resolve.
func foreignReference(inner string) error {
	what, _, _ := strings.Cut(inner, ":")
	switch {
	case strings.HasPrefix(inner, "env:"):
		return complain("write ${"+strings.TrimPrefix(inner, "env:")+"}", "${env:...} is an editor's way to name a variable")
	case strings.HasPrefix(inner, "input:"):
		return complain("put the value into a variable and write ${NAME}; Beckon starts without anybody to ask",
			"${%s} is a question that VS Code asks when it starts the server", inner)
	case what == "file" && what != inner:
		return complain("put the value into a variable and write ${NAME}", "${%s} stands for the content of a file", inner)
	case strings.Contains(editorNames, " "+what+" "):
		return complain("write the value itself; for the home directory ${HOME}", "${%s} is known to an editor alone", inner)
	default:
		return complain("write ${NAME} or ${NAME:-default}, or $${ for ${ itself", "${%s} does not name a variable", inner)
	}
}
