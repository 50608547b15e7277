global using Xunit;
global using Reply = Ipc.Codecs.Reply<string[]>;
global using Request = Ipc.Codecs.Request<string[]>;
