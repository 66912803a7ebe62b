// Listens in: which pod goes where, as the scheduler tells it to the binder. usage: listen RUN_DIR
package main

import (
	"context"
	"fmt"
	"os"

	berth "berth/bus"
)

func main() {
	berth.Tap(context.Background(), os.Args[1], func(heard berth.Heard) {
		if bind, is := heard.Message.(*berth.Bind); is && heard.Tapped.Sent {
			fmt.Printf("%s/%s to %s\n", bind.NamespaceName, bind.Name, bind.NodeName)
		}
	})
}
