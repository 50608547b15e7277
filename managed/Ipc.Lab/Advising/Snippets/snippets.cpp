// What `ipc advise` prints in C++; a test compiles it.
#include <ipc/ipc.hpp>

void calls_server() {
    // Calls server
    ipc::Server server("shm://orders", [](ipc::Bytes request, ipc::ReplyWriter& reply) { reply.write(request.text()); });
    // end
}

void calls_client() {
    // Calls client
    auto server = ipc::Channel::connect("shm://orders", 1000);
    std::string answer = server.call("request", 1000);
    // end
}

void messages_server() {
    // Messages server
    ipc::Listener listener("shm://orders");
    auto sender = listener.accept();
    std::string message(64 * 1024, '\0');
    message.resize(sender.receive(message.data(), message.size())); // again and again; ipc::Error with IPC_PEER_CLOSED ends it
    // end
}

void messages_client() {
    // Messages client
    auto receiver = ipc::Channel::connect("shm://orders", 1000);
    receiver.send("message");
    // end
}

void queues_server() {
    // Queues server
    ipc::Queue incoming("shm://orders");
    std::string message(64 * 1024, '\0');
    auto received = incoming.dequeue(message.data(), message.size()); // again and again
    // end
    (void)received;
}

void queues_client() {
    // Queues client
    ipc::Queue outgoing("shm://orders");
    outgoing.enqueue("message");
    // end
}

void broadcasts_server() {
    // Broadcasts server
    ipc::Publisher publisher("shm://orders");
    publisher.publish("message");
    // end
}

void broadcasts_client() {
    // Broadcasts client
    ipc::Subscriber subscriber("shm://orders", 1000);
    std::string message(64 * 1024, '\0');
    auto received = subscriber.receive(message.data(), message.size()); // again and again
    // end
    (void)received;
}
