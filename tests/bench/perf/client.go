package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Client speaks to one API server as one user, in protobuf or in JSON, over few connections. It
// decodes no answer that nobody asks for, because what it burns is taken from those it measures.
type Client struct {
	server, token string
	json          bool
	silent        bool // writes are not sent: what they would make is there already
	connections   []*http.Client
	next          atomic.Uint32
	mutex         sync.Mutex
	sent          map[string]int // its own requests, as "verb resource"
	shaping       sync.Mutex
	shapes        map[string]kindShape
}

// message is what all generated API types can do.
type message interface{ Marshal() ([]byte, error) }

const protobufType = "application/vnd.kubernetes.protobuf"

type kubeconfig struct {
	Clusters []struct {
		Cluster struct {
			Server string `json:"server"`
			CAFile string `json:"certificate-authority"`
			CAData []byte `json:"certificate-authority-data"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		User struct {
			Token string `json:"token"`
		} `json:"user"`
	} `json:"users"`
}

// NewClient reads a kubeconfig of one cluster and one user with a token.
func NewClient(path string, asJSON bool, connections int) (*Client, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var config kubeconfig
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 || config.Users[0].User.Token == "" {
		return nil, fmt.Errorf("%s: wants one cluster and one user with a token", path)
	}
	cluster := config.Clusters[0].Cluster
	authority := cluster.CAData
	if cluster.CAFile != "" {
		if authority, err = os.ReadFile(cluster.CAFile); err != nil {
			return nil, err
		}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s: no certificate authority", path)
	}
	client := &Client{server: strings.TrimSuffix(cluster.Server, "/"), token: config.Users[0].User.Token,
		json: asJSON, sent: map[string]int{}, shapes: map[string]kindShape{}}
	for range connections {
		client.connections = append(client.connections, &http.Client{Transport: &http.Transport{
			TLSClientConfig:     &tls.Config{RootCAs: pool, ClientSessionCache: tls.NewLRUClientSessionCache(4)},
			ForceAttemptHTTP2:   true,
			DisableCompression:  true,
			MaxIdleConnsPerHost: 64,
		}})
	}
	return client, nil
}

// StatusError is an answer that is not a success.
type StatusError struct {
	Code int
	What string
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s: status %d", e.What, e.Code) }

// encode makes a body in the client's format.
func (c *Client) encode(apiVersion, kind string, object message) ([]byte, error) {
	if c.json {
		body, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		// The typed objects carry no kind of their own.
		return append([]byte(fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, apiVersion, kind)), body[1:]...), nil
	}
	raw, err := object.Marshal()
	if err != nil {
		return nil, err
	}
	envelope := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	body, err := envelope.Marshal()
	return append([]byte("k8s\x00"), body...), err
}

func (c *Client) contentType() string {
	if c.json {
		return "application/json"
	}
	return protobufType
}

// open sends a request and leaves the answer's body to the caller.
func (c *Client) open(ctx context.Context, method, path, contentType, accept string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header["Authorization"] = []string{"Bearer " + c.token}
	request.Header["Accept"] = []string{accept}
	if body != nil {
		request.Header["Content-Type"] = []string{contentType}
	}
	connection := c.connections[int(c.next.Add(1))%len(c.connections)]
	answer, err := connection.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 400))
		answer.Body.Close()
		return nil, &StatusError{answer.StatusCode, method + " " + path + " " + printable(text)}
	}
	return answer, nil
}

// patiently sends again what the API server refuses because it has not yet seen the class of a priority.
func patiently(ctx context.Context, send func() error) error {
	for deadline := time.Now().Add(20 * time.Second); ; {
		err := send()
		var status *StatusError
		if !errors.As(err, &status) || status.Code != 403 || !strings.Contains(status.What, "no PriorityClass with name") ||
			time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffd {
			return -1
		}
		return r
	}, string(text))
}

// count notes one of the harness's own requests, so that they can be taken off the server's figures.
func (c *Client) count(what string) {
	c.mutex.Lock()
	c.sent[what]++
	c.mutex.Unlock()
}

// Sent is a copy of the counts so far.
func (c *Client) Sent() map[string]int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	sent := make(map[string]int, len(c.sent))
	for what, times := range c.sent {
		sent[what] = times
	}
	return sent
}

// send does one request whose answer's body does not matter.
func (c *Client) send(ctx context.Context, method, path, contentType, what string, body []byte) error {
	if c.silent {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	c.count(what)
	// Custom resources are answered in JSON alone.
	answer, err := c.open(ctx, method, path, contentType, c.contentType()+", application/json", body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// created posts a body and reads what the API server made of it, in JSON.
func (c *Client) created(ctx context.Context, path, contentType, what string, body []byte) ([]byte, error) {
	return c.exchange(ctx, "POST", path, contentType, "application/json", what, body)
}

// exchange sends a body and reads the answer.
func (c *Client) exchange(ctx context.Context, method, path, contentType, accept, what string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	c.count(what)
	answer, err := c.open(ctx, method, path, contentType, accept, body)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// Create posts a typed object to a collection.
func (c *Client) Create(ctx context.Context, collection, what, apiVersion, kind string, object message) error {
	body, err := c.encode(apiVersion, kind, object)
	if err != nil {
		return err
	}
	return c.send(ctx, "POST", collection, c.contentType(), "POST "+what, body)
}

// Get reads an answer as bytes, in JSON or as text.
func (c *Client) Get(ctx context.Context, path, what string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	c.count(what)
	answer, err := c.open(ctx, "GET", path, "", "application/json, text/plain", nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// Delete removes an object; options are a DeleteOptions in JSON, or nothing.
func (c *Client) Delete(ctx context.Context, path, what, options string) error {
	var body []byte
	if options != "" {
		body = []byte(options)
	}
	return c.send(ctx, "DELETE", path, "application/json", "DELETE "+what, body)
}

// kindShape is where the objects of a kind live.
type kindShape struct {
	plural     string
	namespaced bool
}

// collection asks the API server where objects of this kind are created.
func (c *Client) collection(ctx context.Context, apiVersion, kind, namespace string) (string, string, error) {
	root := "/apis/" + apiVersion
	if apiVersion == "v1" {
		root = "/api/v1"
	}
	c.shaping.Lock()
	defer c.shaping.Unlock()
	shape, known := c.shapes[apiVersion+"/"+kind]
	if !known {
		text, err := c.Get(ctx, root, "GET ")
		if err != nil {
			return "", "", err
		}
		var list struct {
			Resources []struct {
				Name, Kind string
				Namespaced bool
			}
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return "", "", err
		}
		for _, resource := range list.Resources {
			if resource.Kind == kind && !strings.Contains(resource.Name, "/") {
				shape, known = kindShape{resource.Name, resource.Namespaced}, true
			}
		}
		if !known {
			return "", "", fmt.Errorf("the API server has no %s in %s", kind, apiVersion)
		}
		c.shapes[apiVersion+"/"+kind] = shape
	}
	if !shape.namespaced {
		return root + "/" + shape.plural, shape.plural, nil
	}
	return root + "/namespaces/" + namespace + "/" + shape.plural, shape.plural, nil
}
