package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const modernVersion = "2026-07-28"

// modernMeta is what every request of the modern client says about itself.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modernVersion + `",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// serveModern is the role "modern": a server whose every call needs one answer.
func serveModern() error { return listen(http.HandlerFunc(answerModern)) }

func answerModern(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	m, err := readRPC(r.Body)
	const cache = `"ttlMs":60000,"cacheScope":"public"`
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case m.Method == "server/discover":
		reply(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",`+cache+`,"supportedVersions":["`+modernVersion+
			`"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":`+rawServer+`}}}`, m.ID)
	case m.Method == "tools/list":
		reply(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",`+cache+`,`+rawTools+`}}`, m.ID)
	case m.Method == "tools/call" && m.Params.InputResponses == nil:
		reply(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","requestState":"s-%[1]s","inputRequests":`+
			`{"who":{"method":"elicitation/create","params":`+askForm+`}}}}`, m.ID)
	case m.Method == "tools/call":
		reply(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",`+accepted+`}}`, m.ID)
	case strings.HasPrefix(m.Method, "notifications/"):
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "initialize":
		reply(w, 400, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["`+modernVersion+`"]}}}`, m.ID)
	default:
		reply(w, 404, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`, m.ID)
	}
}

// A modern is a raw client of the modern era. It has no connection to make.
type modern struct {
	url  string
	http *http.Client
}

func newModern(url string) *modern {
	return &modern{url, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000, MaxIdleConns: 1000}}}
}

// needed is what a call needs before it can go on; nothing when it is complete.
type needed struct {
	Type     string                     `json:"resultType"`
	State    json.RawMessage            `json:"requestState"`
	Requests map[string]json.RawMessage `json:"inputRequests"`
}

// leg makes one request of a call to a tool. More is put between its members.
func (c *modern) leg(id int, tool, more string) (needed, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{},%s`+modernMeta+`}}`, id, tool, more)
	req, err := http.NewRequest("POST", c.url, strings.NewReader(body))
	if err != nil {
		return needed{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", modernVersion)
	req.Header.Set("Mcp-Method", "tools/call")
	req.Header.Set("Mcp-Name", tool)
	resp, err := c.http.Do(req)
	if err != nil {
		return needed{}, err
	}
	defer resp.Body.Close()
	message, err := finalMessage(resp)
	if err != nil {
		return needed{}, err
	}
	var answer struct{ Result *needed }
	if err := json.Unmarshal(message, &answer); err != nil || answer.Result == nil {
		return needed{}, fmt.Errorf("%s, no result: %.300s", resp.Status, message)
	}
	return *answer.Result, nil
}

// finalMessage is the response, plain or the last of a stream.
func finalMessage(resp *http.Response) (last []byte, err error) {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return io.ReadAll(resp.Body)
	}
	messages(resp.Body, func(m []byte) { last = m })
	if last == nil {
		return nil, errors.New("the stream ended without a message")
	}
	return last, nil
}

// answers makes the members of a retry that answer everything that is needed.
func (n needed) answers() string {
	var b strings.Builder
	sep := `"inputResponses":{`
	for key := range n.Requests {
		fmt.Fprintf(&b, `%s%q:`+adaAnswer, sep, key)
		sep = ","
	}
	b.WriteString("},")
	if n.State != nil {
		fmt.Fprintf(&b, `"requestState":%s,`, n.State)
	}
	return b.String()
}

// ask makes a call that needs one answer.
func (c *modern) ask(id int) error {
	first, err := c.leg(id, "ask", "")
	if err != nil {
		return err
	}
	if first.Type != "input_required" || len(first.Requests) != 1 {
		return fmt.Errorf("the call was not asked one question: %+v", first)
	}
	second, err := c.leg(id, "ask", first.answers())
	if err == nil && second.Type != "complete" {
		err = fmt.Errorf("the call is not complete after its answer: %+v", second)
	}
	return err
}
