module berth/tests/certificates/client

go 1.23
