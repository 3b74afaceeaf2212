package api

import (
	"net/http"
	"net/url"
	"strings"
)

// route is one method at one path.
type route struct {
	method string
	path   string // below Root; {id} stands for the id of a question
	serve  func(*API, *visit) *failure
	doc    func() operation
}

// routes are everything that there is. The document that describes the API is made
// of the same list.
func routes() []route {
	return []route{
		{http.MethodPost, "/questions", (*API).ask, askDoc},
		{http.MethodGet, "/questions/{id}", (*API).show, showDoc},
		{http.MethodPost, "/questions/{id}/answer", (*API).answer, answerDoc},
		{http.MethodPost, "/questions/{id}/extend", (*API).extend, extendDoc},
		{http.MethodPost, "/questions/{id}/withdraw", (*API).withdraw, withdrawDoc},
		{http.MethodGet, "/questions/{id}/events", (*API).events, eventsDoc},
		{http.MethodGet, "/openapi.json", (*API).describe, describeDoc},
	}
}

// route finds what serves a request, and reads the id in its path.
func (a *API) route(v *visit) (func(*API, *visit) *failure, *failure) {
	path, _ := strings.CutPrefix(v.r.URL.EscapedPath(), Root)
	var methods []string
	for _, one := range a.routes {
		id, ok := matches(one.path, path)
		if !ok {
			continue
		}
		v.id = id
		if v.r.Method == one.method || v.r.Method == http.MethodHead && one.method == http.MethodGet {
			return one.serve, nil
		}
		methods = append(methods, one.method)
		if one.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	if methods == nil {
		return nil, fault(http.StatusNotFound, reasonHTTP, "there is nothing at this path").
			Hint("what there is stands in " + Root + "/openapi.json")
	}
	allowed := strings.Join(methods, ", ")
	v.w.Header().Set("Allow", allowed)
	return nil, fault(http.StatusMethodNotAllowed, reasonHTTP, "the method %s is not possible here", v.r.Method).
		Hint("possible is " + allowed)
}

// matches compares a path, as it was sent, with a pattern, and returns what stands
// for {id}. An escaped slash divides nothing: a proxy that lets some paths through
// reads them so, too.
func matches(pattern, path string) (id string, ok bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return "", false
	}
	for i := range want {
		part, err := url.PathUnescape(got[i])
		switch {
		case err != nil:
			return "", false
		case want[i] == "{id}" && part != "":
			id = part
		case want[i] != part:
			return "", false
		}
	}
	return id, true
}
