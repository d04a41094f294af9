from crawler.entrypoints.cli.app import main

main()
